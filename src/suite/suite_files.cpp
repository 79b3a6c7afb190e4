#include "src/suite/suite_files.hpp"

#include <algorithm>
#include <filesystem>
#include <glob.h>
#include <set>
#include <system_error>

#include "src/task/source_file.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

bool is_pattern(const std::string& path) {
  return path.find_first_of("*?[") != std::string::npos;
}

std::vector<std::string> sources_in(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    if (entry.is_regular_file(unreadable) && !language_of(entry.path().string()).empty())
      found.push_back(entry.path().string());
  }
  return found;
}

}  // namespace

std::vector<std::string> matching_files(const std::string& pattern, const error_place& named, bool folders) {
  std::error_code unreadable;
  const auto fits = [&](const std::string& path) {
    return fs::is_regular_file(path, unreadable) || (folders && is_program_folder(path));
  };
  if (!is_pattern(pattern) || fs::exists(pattern, unreadable)) {
    if (fits(pattern)) return {pattern};
    throw error(error_code::input, "there is no file '" + pattern + "'", named,
                "a relative path starts in the folder of the suite file");
  }
  glob_t matches{};
  const int failed = ::glob(pattern.c_str(), 0, nullptr, &matches);
  std::vector<std::string> files;
  for (std::size_t i = 0; failed == 0 && i < matches.gl_pathc; ++i) {
    if (fits(matches.gl_pathv[i])) files.emplace_back(matches.gl_pathv[i]);
  }
  ::globfree(&matches);
  if (files.empty()) {
    throw error(error_code::input, "no file matches '" + pattern + "'", named,
                "a relative pattern starts in the folder of the suite file");
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> solution_files(const std::string& folder, const std::string& task) {
  std::vector<std::string> found = sources_in(fs::path(folder) / task);
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / task, unreadable)) {
    if (is_program_folder(entry.path().string())) found.push_back(entry.path().string());
  }
  for (const auto& file : sources_in(folder)) {
    if (fs::path(file).stem() == task) found.push_back(file);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string task_name_of(const std::string& file) {
  const fs::path path = fs::absolute(file).lexically_normal();
  return path.stem() == "task" ? path.parent_path().filename().string() : path.stem().string();
}

published_place place_in_name(const std::string& name) {
  constexpr std::size_t longest_number = 9;
  published_place place;
  std::string_view rest = name;
  if (rest.starts_with("level")) {
    const auto end = rest.find('_');
    if (end == std::string_view::npos || end == 5) return place;
    place.level = rest.substr(5, end - 5);
    if (place.level.find_first_not_of("0123456789") != std::string::npos) return {};
    rest.remove_prefix(end + 1);
  }
  const auto digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits > 0 && digits <= longest_number && digits < rest.size() && rest[digits] == '_')
    place.number = std::stoll(std::string(rest.substr(0, digits)));
  return place;
}

std::vector<suite_solution> named_solutions(const std::vector<std::string>& files, const error_place& named) {
  std::vector<suite_solution> solutions;
  std::set<std::string> names;
  for (const auto& file : files) {
    const fs::path path(file);
    // Two files that differ in their endings alone keep them.
    std::error_code unreadable;
    const bool is_folder = fs::is_directory(path, unreadable);
    std::string name = (is_folder ? path.filename() : path.stem()).string();
    if (names.contains(name)) name = path.filename().string();
    if (!names.insert(name).second) {
      throw error(error_code::input, "two solutions of this task are named '" + name + "'", named,
                  "solutions of a task need different file names");
    }
    solutions.push_back({std::move(name), file});
  }
  return solutions;
}

}  // namespace kevo
