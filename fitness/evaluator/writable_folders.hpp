#pragma once
// The subfolders of an evaluator's folder that it can write to.

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kevo {

/// The subfolders that the settings name, and those in which the evaluator itself failed to make a file. Each
/// evaluation has its own. Thread-safe.
class writable_folders {
 public:
  /// At most this many are found by failures.
  static constexpr std::size_t most_found = 16;

  /// @param folder the evaluator's, absolute
  /// @param named  subfolders, relative to it
  /// @throws kevo::error (input) if a name does not lie in the folder
  writable_folders(std::string folder, const std::vector<std::string>& named);

  /// All of them, relative to the evaluator's folder, sorted.
  std::vector<std::string> list() const;

  /// The evaluator could not write to these paths in an evaluation in which it could write to `had`.
  /// @return whether it can write to more folders now, so that another try makes sense
  bool failed(const std::vector<std::string>& paths, const std::vector<std::string>& had);

  /// These cannot be written to after all, for a reason. Those that the settings name stay in the list.
  void drop(const std::vector<std::string>& folders, const std::string& why);

  /// What was dropped and why, a sentence each.
  std::vector<std::string> objections() const;

 private:
  std::string folder_;
  std::vector<std::string> named_, found_;
  std::map<std::string, std::string> dropped_;
  mutable std::mutex mutex_;
};

/// The subfolder that must take new files so that `path` can be made, relative to `folder`: the parent of
/// `path` that the host has, else the first name below `folder`. Empty if there is none: `path` lies
/// elsewhere, is a file of the host, or leads through a link, a hidden folder or a folder of modules. If new
/// files could be made beside modules, a candidate could add a module that is imported in place of another.
std::string subfolder_to_open(const std::string& folder, const std::string& path);

}  // namespace kevo
