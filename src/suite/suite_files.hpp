#pragma once
// Files that a suite names by patterns, and the solutions of a task in a folder.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/error.hpp>

#include "src/suite/suite_plan.hpp"

namespace kevo {

/// The files that a path or a pattern of the shell (`tasks/*/task.yaml`) stands for, in order of their names.
/// @param folders also take folders that are programs of several files (`is_program_folder`)
/// @throws kevo::error (input) at `named` if there are none
std::vector<std::string> matching_files(const std::string& pattern, const error_place& named,
                                        bool folders = false);

/// FOLDER/NAME.*, and all files in FOLDER/NAME, that are written in a language that kevo knows, and all
/// folders in FOLDER/NAME that are programs of several files; in order of their names, none if there are
/// none.
std::vector<std::string> solution_files(const std::string& folder, const std::string& task);

/// A task file by its folder where it is called "task", else by its own name: "tasks/softmax/task.yaml" is
/// "softmax".
std::string task_name_of(const std::string& file);

/// What the name of a task says of its place in a published suite.
struct published_place {
  std::string level;                   ///< "1"; empty if it is not said
  std::optional<std::int64_t> number;  ///< of the problem
};
/// "level1_19_relu" is problem 19 of level 1, "19_relu" is problem 19; other names say nothing.
published_place place_in_name(const std::string& name);

/// The files as solutions, which need different names. @throws kevo::error (input) at `named`
std::vector<suite_solution> named_solutions(const std::vector<std::string>& files, const error_place& named);

}  // namespace kevo
