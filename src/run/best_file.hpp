#pragma once
// The best program as a plain source file in the run's folder.

#include <string>

#include <kevo/program.hpp>

namespace kevo {

/// Writes the best program into `directory` as best.<ending of its main file>, further files as they are
/// named in a folder best_files; replaces what was there in one step. Returns the path of the main file.
/// Throws kevo::error (environment).
std::string write_best_file(const std::string& directory, const program& best);

}  // namespace kevo
