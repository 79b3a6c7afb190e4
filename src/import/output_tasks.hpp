#pragma once
// Where importers write: folders of tasks that kevo made, never files of anybody else.

#include <filesystem>
#include <string>
#include <string_view>

#include "src/import/suite_import.hpp"

namespace kevo::importing {

/// A name as one component of a path: letters, digits, '-', '_' and '.', not beginning with '.'.
std::string file_name_of(std::string_view name);

/// Makes the folder of the tasks, which must be empty, new, or from an earlier import.
/// @throws kevo::error: input (it holds other files), environment
void open_output(const std::string& folder);

/// Removes the folder of a task of an earlier import, and makes it anew.
/// @throws kevo::error (environment)
std::filesystem::path fresh_task_folder(const std::string& output, const std::string& name);

/// @throws kevo::error (environment)
void write_file(const std::filesystem::path& path, std::string_view text);

/// Writes OUTPUT/suite.yaml for `kevo bench` with the tasks that were imported, and sets `suite_file`.
/// @param task_file name of the task file in each folder
/// @param torch_device the device in the section fitness, whose backend is torch
/// @param solutions whether solutions of the tasks are expected in OUTPUT/solutions
void write_suite(suite_import& report, std::string_view task_file, const std::string& torch_device,
                 bool solutions);

}  // namespace kevo::importing
