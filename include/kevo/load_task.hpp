#pragma once
// Loads tasks and source files. Compiled: link kevo::kevo.

#include <string>

#include <kevo/error.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Loads a task from a YAML file of kevo, or from a FlashInfer-Bench Definition (`.json`). Relative paths in
/// a task start at the folder of the task file. The path may also name a folder that contains an evaluator of
/// OpenEvolve (`evaluator.py`) or ShinkaEvolve (`evaluate.py`) and an initial program. The program becomes
/// the seed of the task, and the text that the folder has for language models becomes its description.
/// @param workloads file with FlashInfer-Bench workloads or traces, one JSON document per line; they are
/// added to the workloads that the task file contains. Empty, for a Definition: the file beside it with the
/// extension .jsonl, or else workloads/OP_TYPE/NAME.jsonl in its data set, if there is one.
/// @throws kevo::error (input) with file, line, column, key and hint for any mistake; for parts of the schema
/// that kevo does not implement it says "not supported yet"
task load_task(const std::string& path, const std::string& workloads = {});

/// Reads one source file of at most 64 MiB as a program, or a folder of at most 256 files with that size
/// together, as a program of several files. Its main file is the only file, or the one whose name without
/// extension is main, kernel, initial_program, initial or init_program. Hidden files and __pycache__ are
/// ignored; symbolic links are an error.
/// @param language language of the program; empty: determined from the extension of the file name (.cpp, .cu,
/// .py, ...)
/// @param named the place in a config or task that names the file, for error messages
/// @throws kevo::error (input) if the file cannot be read; with line and column if an annotation is wrong
program load_program(const std::string& path, std::string language = {}, error_place named = {});

}  // namespace kevo
