#pragma once
// Temporary folders that vanish with the process that made them: at the latest when another one makes its
// first.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/process/descriptor.hpp"

namespace kevo {

/// A fresh folder that a sandboxed process may write if `for_sandbox` (it belongs to the sandbox's user
/// then). Removed, with all it holds, by the destructor; symbolic links are not followed. It is locked while
/// it lives, so that the folders of killed processes can be told from those in use.
class scratch_folder {
 public:
  /// The first one of a process also sweeps what killed processes have left.
  /// @throws kevo::error (environment) if no temporary folder can be written
  explicit scratch_folder(bool for_sandbox = true);
  scratch_folder(scratch_folder&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::move(other.lock_)) {
    other.path_.clear();
  }
  scratch_folder& operator=(scratch_folder&&) = delete;
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder();
  const std::string& path() const { return path_; }
  /// A folder inside it, with the same owner.
  std::string folder(std::string_view name) const;

 private:
  std::string path_;
  detail::descriptor lock_;
};

/// Lets every user read a folder and what lies in it, also where this process's umask forbids that of new
/// files: the sandbox's user is another. Follows no link. @throws kevo::error (environment)
void let_everyone_read(const std::string& folder);

/// Removes the scratch folders in `base` that nobody holds any more: of this user, unlocked, unchanged for
/// `age_s` seconds. Follows no link. O(entries of `base`). Never throws.
/// @return the paths that were removed
std::vector<std::string> sweep_scratch_folders(const std::string& base, double age_s);

}  // namespace kevo
