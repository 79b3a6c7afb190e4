#include "fitness/process/own_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <vector>

#include <kevo/error.hpp>

namespace kevo {
namespace {

namespace fs = std::filesystem;

struct folder_list {
  std::mutex guard;
  std::vector<fs::path> folders;
};

/// Made when it is first used, which may be before main.
folder_list& added() {
  static folder_list list;
  return list;
}

std::vector<fs::path> folders_to_look_in() {
  std::error_code ignored;
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path above = beside.parent_path();
  std::vector<fs::path> all = {beside, above, above / "bin", above / "libexec" / "kevo"};
  folder_list& more = added();
  const std::scoped_lock lock(more.guard);
  all.insert(all.end(), more.folders.begin(), more.folders.end());
  return all;
}

}  // namespace

std::string own_program(const std::string& name, const char* variable) {
  std::error_code ignored;
  const auto is_program = [&](const fs::path& path) { return fs::is_regular_file(path, ignored); };
  if (const char* named = std::getenv(variable); named != nullptr && *named != '\0') {
    if (is_program(named)) return fs::absolute(named).string();
    throw error(
        error_code::environment,
        "the environment variable " + std::string(variable) + " names '" + named + "', which is not a file",
        {}, "set it to the path of " + name + ", or unset it");
  }
  std::string places;
  for (const auto& folder : folders_to_look_in()) {
    if (is_program(folder / name)) return fs::absolute(folder / name).string();
    places += (places.empty() ? "" : ", ") + folder.string();
  }
  throw error(error_code::environment, "the program " + name + " was not found; looked in " + places, {},
              "set the environment variable " + std::string(variable) +
                  " to its path, or copy it beside the running program");
}

void add_program_folder(const std::string& folder) {
  folder_list& list = added();
  const std::scoped_lock lock(list.guard);
  list.folders.emplace_back(folder);
}

}  // namespace kevo
