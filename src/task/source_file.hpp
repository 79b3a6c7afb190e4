#pragma once
// Source files on disk as programs.

#include <string>
#include <string_view>

#include <kevo/error.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// The language that a file's ending stands for: "cpp", "cuda", "python", ...; empty if kevo knows none.
std::string language_of(std::string_view path);

/// The program that is one text. Its file is named "kernel" with the language's ending, whatever it is called
/// on disk: one text is one program, however it came here.
program program_of(std::string language, std::string text);

/// Reads one source file of at most 64 MiB. `language` empty means that of the file's ending. Throws
/// kevo::error (input): at `named`, the place that names the file, where it cannot be read; at line and
/// column of the file for a wrong annotation.
program load_program(const std::string& path, std::string language = {}, error_place named = {});

}  // namespace kevo
