#pragma once
// Files that a suite names by patterns, and the solutions of a task in a folder.

#include <string>
#include <vector>

#include <kevo/error.hpp>

#include "src/suite/suite_plan.hpp"

namespace kevo {

/// The files that a path or a pattern of the shell (`tasks/*/task.yaml`) stands for, in order of their names.
/// @throws kevo::error (input) at `named` if there are none
std::vector<std::string> matching_files(const std::string& pattern, const error_place& named);

/// FOLDER/NAME.*, and all files in FOLDER/NAME, that are written in a language that kevo knows; in order of
/// their names, none if there are none.
std::vector<std::string> solution_files(const std::string& folder, const std::string& task);

/// A task file by its folder where it is called "task", else by its own name: "tasks/softmax/task.yaml" is
/// "softmax".
std::string task_name_of(const std::string& file);

/// The files as solutions, which need different names. @throws kevo::error (input) at `named`
std::vector<suite_solution> named_solutions(const std::vector<std::string>& files, const error_place& named);

}  // namespace kevo
