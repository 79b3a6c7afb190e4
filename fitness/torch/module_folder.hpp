#pragma once
// Where one sandboxed process leaves files for others that know their names.

#include <string>

#include "fitness/sandbox/scratch_folder.hpp"

namespace kevo::torch {

/// A folder that the sandbox's user may write and search, but not list, so that a name that nobody can guess
/// protects a file. Removed with all it holds.
class module_folder {
 public:
  /// @throws kevo::error (environment)
  explicit module_folder(bool for_sandbox);
  module_folder(const module_folder&) = delete;
  module_folder& operator=(const module_folder&) = delete;
  ~module_folder();
  const std::string& path() const { return path_; }

 private:
  scratch_folder scratch_;
  std::string path_;
};

}  // namespace kevo::torch
