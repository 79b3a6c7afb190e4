#include "fitness/cuda/hosted/torch_libraries.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <kevo/error.hpp>

#include "fitness/torch/python_server.hpp"

namespace kevo::cuda {
namespace fs = std::filesystem;
namespace {

std::string canonical_folder(const fs::path& folder) {
  std::error_code code;
  const auto real = fs::canonical(folder, code);
  return code || !fs::is_directory(real, code) ? std::string() : real.string();
}

}  // namespace

bool is_of_torch(const std::string& library) {
  constexpr std::array<std::string_view, 5> names = {"torch", "torch_cpu", "torch_cuda", "c10", "c10_cuda"};
  return std::find(names.begin(), names.end(), library) != names.end();
}

torch_libraries find_torch_libraries(const std::vector<std::string>& wanted, const std::string& python,
                                     bool contained) {
  torch_libraries found;
  python_tools tools;
  try {
    tools = torch::find_torch(python, contained);
  } catch (const error& failure) {
    if (failure.code() != error_code::environment) throw;
    found.missing = failure.message();
    return found;
  }
  const fs::path packages = tools.packages;
  const auto own = canonical_folder(packages / "torch" / "lib");
  std::error_code code;
  for (const auto& library : wanted) {
    const auto file = "lib" + library + ".so";
    if (!own.empty() && fs::exists(fs::path(own) / file, code)) continue;
    found.missing = "PyTorch " + tools.version + " in " + tools.packages + " has no " + file +
                    ": it was built without CUDA, or its libraries are elsewhere";
    return found;
  }
  found.folders.push_back(own);
  std::vector<std::string> needed;
  for (fs::directory_iterator at(packages / "nvidia", code), end; !code && at != end; at.increment(code)) {
    if (auto folder = canonical_folder(at->path() / "lib"); !folder.empty())
      needed.push_back(std::move(folder));
  }
  std::sort(needed.begin(), needed.end());
  found.folders.insert(found.folders.end(), needed.begin(), needed.end());
  return found;
}

}  // namespace kevo::cuda
