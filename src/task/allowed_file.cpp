#include "src/task/allowed_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>

#include "src/task/source_file.hpp"

namespace kevo {
namespace {

bool lies_in(const std::filesystem::path& file, const std::filesystem::path& folder) {
  const auto relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// Folders that the user lets tasks read from: KEVO_TASK_FILES, apart by colons.
bool allowed_by_user(const std::filesystem::path& file) {
  const char* given =
      std::getenv("KEVO_TASK_FILES");  // NOLINT(concurrency-mt-unsafe): nothing sets variables
  std::istringstream folders(given == nullptr ? "" : given);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code failed;
    const auto allowed = std::filesystem::canonical(folder, failed);
    if (!failed && lies_in(file, allowed)) return true;
  }
  return false;
}

}  // namespace

void require_allowed_file(const std::string& task, const std::string& named_file, const error_place& named) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const auto file = fs::canonical(named_file, failed);
  if (failed) return;  // whoever reads it says what is wrong
  const auto folder = fs::canonical(task, failed).parent_path();
  const auto language = language_of(file.string());
  const bool source = !language.empty() && language != "text" && !fs::is_directory(file);
  if (failed || source || lies_in(file, folder) || allowed_by_user(file)) return;
  throw error(error_code::input,
              "'" + named_file +
                  "' is outside the folder of the task and its extension is not that of a source file: " +
                  "a task must not give access to other files",
              named,
              "copy it into the folder of the task, or allow its folder by setting KEVO_TASK_FILES=" +
                  file.parent_path().string());
}

}  // namespace kevo
