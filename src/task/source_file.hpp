#pragma once
// Source files on disk as programs.

#include <string>
#include <string_view>

#include <kevo/load_task.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// The language that a file's ending stands for: "cpp", "cuda", "python", ...; empty if kevo knows none.
std::string language_of(std::string_view path);

/// The program that is one text. Its file is named "kernel" with the language's ending, whatever it is called
/// on disk: one text is one program, however it came here.
program program_of(std::string language, std::string text);

/// Whether `load_program` takes the path for a program of several files: a folder with a file that has a name
/// for main files (main, kernel, initial_program, ...).
bool is_program_folder(const std::string& path);

}  // namespace kevo
