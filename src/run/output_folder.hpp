#pragma once
// Where a new run writes: never over another run, nor over files of the user.

#include <string>

#include <kevo/error.hpp>

namespace kevo {

/// `wanted` itself, or with the first number that is free where it holds a run already: starting twice is no
/// mistake. It may exist and be empty. Throws kevo::error (input) at `named`, the key that says `wanted`,
/// where the folder holds files but no run.
std::string free_run_folder(const std::string& wanted, error_place named);

}  // namespace kevo
