#pragma once
// Where kevo's helper programs are (kevo-worker-cpu, kevo-device, ...): in a build, in an installed copy, or
// where the environment says.

#include <string>

namespace kevo {

/// The path of one of kevo's own programs. Looked for, in this order: the file that the environment variable
/// `variable` names; beside the running program, in its parent folder, in ../bin, in ../libexec/kevo; in the
/// folders that were added.
/// @throws kevo::error (environment) that names every place that was looked at
std::string own_program(const std::string& name, const char* variable);

/// Adds a folder to look in. A program that links an installed kevo calls this before main, by a source file
/// that kevo's CMake package compiles into it. Thread-safe.
void add_program_folder(const std::string& folder);

}  // namespace kevo
