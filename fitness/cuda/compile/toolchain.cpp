#include "fitness/cuda/compile/toolchain.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <kevo/error.hpp>

namespace kevo::cuda {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    result.push_back(at->path());
  std::sort(result.begin(), result.end());
  return result;
}

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

/// N of "libnvrtc.so.N"; 0 for anything else.
int version_of(const fs::path& library) {
  const std::string name = library.filename().string();
  if (name == "libnvrtc.so") return 1;  // better than nothing
  if (!name.starts_with("libnvrtc.so.")) return 0;
  return std::atoi(name.c_str() + 12);
}

fs::path library_in(const fs::path& folder) {
  fs::path best;
  for (const auto& path : entries(folder)) {
    if (version_of(path) > (best.empty() ? 0 : version_of(best))) best = path;
  }
  return best;
}

/// The library of a toolkit, of a folder of python packages, or of a plain folder.
fs::path library_under(const fs::path& root) {
  for (const char* folder : {"", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
    if (auto found = library_in(root / folder); !found.empty()) return found;
  }
  for (const auto& package : entries(root / "nvidia")) {
    if (auto found = library_in(package / "lib"); !found.empty()) return found;
  }
  return {};
}

std::vector<fs::path> loader_folders() {
  std::vector<fs::path> folders;
  if (const char* listed = std::getenv("LD_LIBRARY_PATH")) {
    std::string rest = listed;
    while (!rest.empty()) {
      const auto colon = std::min(rest.find(':'), rest.size());
      if (colon > 0) folders.emplace_back(rest.substr(0, colon));
      rest.erase(0, colon + 1);
    }
  }
  for (const auto& file : entries("/etc/ld.so.conf.d")) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with('/')) folders.emplace_back(line);
    }
  }
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                             "/usr/lib", "/usr/local/lib"})
    folders.emplace_back(folder);
  return folders;
}

std::vector<fs::path> python_folders() {
  std::vector<fs::path> roots = {"/usr/local", "/usr"};
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* value = std::getenv(name)) roots.insert(roots.begin(), value);
  }
  if (const char* home = std::getenv("HOME")) roots.push_back(fs::path(home) / ".local");
  std::vector<fs::path> folders;
  for (const auto& root : roots) {
    for (const auto& python : entries(root / "lib")) {
      if (!python.filename().string().starts_with("python3")) continue;
      folders.push_back(python / "site-packages");
      folders.push_back(python / "dist-packages");
    }
  }
  return folders;
}

std::vector<std::string> include_folders_of(const fs::path& library) {
  const auto root = library.parent_path().parent_path();
  std::vector<fs::path> places = {root / "include", root.parent_path() / "include"};
  // targets/x86_64-linux/lib keeps its headers in targets/x86_64-linux/include; python packages are siblings.
  if (root.parent_path().filename() == "nvidia") {
    for (const auto& package : entries(root.parent_path())) places.push_back(package / "include");
  }
  std::vector<std::string> result;
  const auto add = [&result](const fs::path& folder) {
    std::error_code code;
    const auto real = fs::canonical(folder, code).string();
    if (!code && std::find(result.begin(), result.end(), real) == result.end()) result.push_back(real);
  };
  for (const auto& place : places) {
    for (const char* sign : {"cuda_fp16.h", "nv/target", "crt/mma.h"}) {
      if (is_there(place / sign)) add(place);
    }
    if (is_there(place / "cccl" / "nv" / "target")) add(place / "cccl");
  }
  return result;
}

}  // namespace

std::string toolchain::identity() const {
  std::error_code code;
  const auto size = fs::file_size(library, code);
  const auto time = fs::last_write_time(library, code).time_since_epoch().count();
  return library + ' ' + std::to_string(size) + ' ' + std::to_string(time);
}

toolchain find_toolchain(const std::string& configured) {
  std::vector<std::pair<std::string, fs::path>> places;  // how, and where
  const auto from_environment = [&](const char* name) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      places.emplace_back(name, value);
  };
  if (!configured.empty()) {
    places.emplace_back("the config", configured);
  } else {
    for (const char* name : {"KEVO_NVRTC", "CUDA_HOME", "CUDA_PATH"}) from_environment(name);
    places.emplace_back("/usr/local/cuda", "/usr/local/cuda");
    for (const auto& folder : loader_folders()) places.emplace_back("the loader", folder);
    for (const auto& folder : python_folders()) places.emplace_back("python packages", folder);
  }
  for (const auto& [how, where] : places) {
    const auto found = version_of(where) > 0 ? where : library_under(where);
    std::error_code code;
    const auto library = fs::canonical(found, code);
    if (found.empty() || code) continue;
    toolchain result;
    result.library = library.string();
    result.found_by = how;
    for (const auto& path : entries(library.parent_path())) {
      const auto name = path.filename().string();
      if (name.starts_with("libnvrtc-builtins.so.")) result.builtins = fs::canonical(path, code).string();
    }
    result.include_folders = include_folders_of(library);
    return result;
  }
  throw error(
      error_code::environment,
      configured.empty() ? "NVRTC (libnvrtc.so) was not found" : "NVRTC was not found in " + configured, {},
      "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or set KEVO_NVRTC to its folder; "
      "searched: KEVO_NVRTC, CUDA_HOME, CUDA_PATH, /usr/local/cuda, the library folders of the loader and "
      "site-packages/nvidia/*/lib");
}

std::string find_compile_program() {
  std::vector<fs::path> places;
  if (const char* named = std::getenv("KEVO_COMPILE_CUDA")) places.emplace_back(named);
  std::error_code ignored;
  const auto folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  constexpr const char* name = "kevo-compile-cuda";
  for (const auto& place : {folder / name, folder.parent_path() / name, folder.parent_path() / "bin" / name,
                            folder.parent_path() / "libexec" / "kevo" / name})
    places.push_back(place);
  for (const auto& place : places) {
    if (fs::is_regular_file(place, ignored)) return fs::absolute(place).string();
  }
  throw error(error_code::environment, "the program kevo-compile-cuda was not found", {},
              "install it in the same folder as kevo, or set KEVO_COMPILE_CUDA to its path");
}

}  // namespace kevo::cuda
