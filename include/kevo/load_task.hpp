#pragma once
// Tasks and source files from paths. Compiled: link kevo::kevo.

#include <string>

#include <kevo/error.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Loads a task: kevo's YAML, or a FlashInfer-Bench Definition (`.json`). The workloads of a Definition come
/// from `workloads` if that is given, else from NAME.jsonl beside it or from the data set's
/// workloads/OP_TYPE/NAME.jsonl. Relative paths in a task start in the folder of the task file.
/// @throws kevo::error (input) with file, line, column, key and hint for everything that is wrong; it says
/// "not supported yet" of the parts of the schema that kevo knows and does not implement
task load_task(const std::string& path, const std::string& workloads = {});

/// Reads one source file of at most 64 MiB as a program.
/// @param language empty: the language of the file's ending (.cpp, .cu, .py, ...)
/// @param named the place that names the file, for messages
/// @throws kevo::error (input) if the file cannot be read, at line and column if an annotation is wrong
program load_program(const std::string& path, std::string language = {}, error_place named = {});

}  // namespace kevo
