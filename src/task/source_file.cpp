#include "src/task/source_file.hpp"

#include <array>
#include <cstddef>
#include <utility>

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

}  // namespace

std::string language_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {};
  for (const auto& kind : kinds) {
    if (path.substr(dot) == kind.ending) return std::string(kind.language);
  }
  return {};
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
  if (guessed) language = language_of(path);
  if (language.empty()) {
    if (named.file.empty()) named.file = path;
    throw error(error_code::input, "cannot determine the language of '" + path + "' from its file extension",
                std::move(named), "name the language: {language: cpp, file: " + path + "}");
  }
  std::string text = read_text_file(path, largest_source, std::move(named));
  // Programs in Triton have the ending of Python's files.
  if (guessed && language == "python" && text.find("@triton.jit") != std::string::npos) language = "triton";
  program source = program_of(std::move(language), std::move(text));
  try {
    parse_annotations(source);
  } catch (const error& wrong) {  // in the words of the user, to whom the file is not "kernel.cpp"
    error_place place = wrong.place();
    place.file = path;
    throw error(wrong.code(), wrong.message(), std::move(place), wrong.hint());
  }
  return source;
}

}  // namespace kevo
