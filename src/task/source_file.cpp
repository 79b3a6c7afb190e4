#include "src/task/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/annotation.hpp>

#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

struct file_kind {
  std::string_view ending;
  std::string_view language;
};

// The first ending of a language is the one its programs get.
constexpr std::array<file_kind, 21> kinds = {
    {{".cpp", "cpp"},    {".cc", "cpp"},           {".cxx", "cpp"},   {".C", "cpp"},
     {".cu", "cuda"},    {".py", "python"},        {".py", "triton"}, {".c", "c"},
     {".rs", "rust"},    {".f90", "fortran"},      {".hip", "hip"},   {".cl", "opencl"},
     {".go", "go"},      {".jl", "julia"},         {".r", "r"},       {".R", "r"},
     {".wl", "wolfram"}, {".sv", "systemverilog"}, {".v", "verilog"}, {".js", "javascript"},
     {".txt", "text"}}};

// Against a wrong path to something huge; what a program may have is the fitness function's `limits.source`.
constexpr std::size_t largest_source = std::size_t{64} << 20U;
constexpr std::size_t most_files = 256;

/// What the main file of a folder may be called, without its ending.
constexpr std::array<std::string_view, 5> main_names = {"main", "kernel", "initial_program", "initial",
                                                        "init_program"};

bool has_main_name(const std::filesystem::path& file, std::string_view word) {
  return file.stem() == word && !language_of(file.string()).empty();
}

bool is_passed_over(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "__pycache__";
}

/// The files of a folder and of those in it, sorted by path; links are refused, because a folder that a task
/// names must not lead out of it.
std::vector<source_file> files_of(const std::string& folder, const error_place& named) {
  namespace fs = std::filesystem;
  std::vector<source_file> files;
  std::size_t left = largest_source;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (is_passed_over(at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_symlink(failed))
      throw error(error_code::input,
                  "'" + at->path().string() + "' is a symbolic link, which a program must not contain", named,
                  "replace the link by a copy of the file");
    if (at->is_directory(failed)) continue;
    if (files.size() == most_files)
      throw error(error_code::input, fmt::format("'{}' contains more than {} files", folder, most_files),
                  named, "name a folder that contains only the files of the program");
    std::string text = read_text_file(at->path().string(), left, named);
    left -= text.size();
    files.push_back({at->path().lexically_relative(folder).generic_string(), std::move(text)});
  }
  if (failed)
    throw error(error_code::input, "cannot read the folder '" + folder + "': " + failed.message(), named,
                "check the permissions of the folder");
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

/// Puts the main file of a folder first: that of a known name, or the only one.
void put_main_first(std::vector<source_file>& files, const std::string& folder, const error_place& named) {
  auto found = files.size() == 1 ? files.begin() : files.end();
  for (const auto word : main_names) {
    if (found != files.end()) break;
    found = std::find_if(files.begin(), files.end(), [&](const source_file& file) {
      return file.path.find('/') == std::string::npos && std::filesystem::path(file.path).stem() == word;
    });
  }
  if (found == files.end())
    throw error(error_code::input, "no file of the folder '" + folder + "' is its main file", named,
                "call it main, kernel, initial_program or initial, with its file extension");
  std::rotate(files.begin(), found, found + 1);
}

void check_annotations(const program& source, const std::string& path, bool folder) {
  try {
    parse_annotations(source);
  } catch (const error& wrong) {  // in the words of the user, to whom the file is not "kernel.cpp"
    error_place place = wrong.place();
    place.file = folder ? path + "/" + place.file : path;
    throw error(wrong.code(), wrong.message(), std::move(place), wrong.hint());
  }
}

}  // namespace

std::string language_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {};
  for (const auto& kind : kinds) {
    if (path.substr(dot) == kind.ending) return std::string(kind.language);
  }
  return {};
}

bool is_program_folder(const std::string& path) {
  std::error_code failed;
  for (std::filesystem::directory_iterator at(path, failed), end; !failed && at != end;
       at.increment(failed)) {
    const bool main = std::any_of(main_names.begin(), main_names.end(),
                                  [&](std::string_view word) { return has_main_name(at->path(), word); });
    if (main && at->is_regular_file(failed)) return true;
  }
  return false;
}

program program_of(std::string language, std::string text) {
  std::string path = "kernel";
  for (const auto& kind : kinds) {
    if (kind.language != language) continue;
    path += kind.ending;
    break;
  }
  return single_file_program(std::move(language), std::move(path), std::move(text));
}

program load_program(const std::string& path, std::string language, error_place named) {
  const bool guessed = language.empty();
  std::error_code failed;
  const bool folder = std::filesystem::is_directory(path, failed);
  program source;
  if (folder) {
    source.files = files_of(path, named);
    put_main_first(source.files, path, named);
  }
  const std::string main = folder ? source.files.front().path : path;
  if (guessed) language = language_of(main);
  if (language.empty()) {
    if (named.file.empty()) named.file = path;
    throw error(error_code::input, "cannot determine the language of '" + main + "' from its file extension",
                std::move(named), "name the language: {language: cpp, file: " + path + "}");
  }
  std::string text = folder ? std::string() : read_text_file(path, largest_source, std::move(named));
  // Programs in Triton have the ending of Python's files.
  const std::string_view shown = folder ? source.text() : std::string_view(text);
  if (guessed && language == "python" && shown.find("@triton.jit") != std::string_view::npos)
    language = "triton";
  if (folder)
    source.language = std::move(language);
  else
    source = program_of(std::move(language), std::move(text));
  check_annotations(source, path, folder);
  return source;
}

}  // namespace kevo
