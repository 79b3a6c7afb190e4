#pragma once
// Results of a lab on disk: one JSON object a line, appended, so that a lab that was killed goes on where it
// was.

#include <functional>
#include <string>
#include <string_view>

namespace kevo {

/// Keeps a file of lines open and locked. A line that `append` returned from is on disk; a last line that was
/// cut off by a crash is dropped on opening. Not thread-safe.
class line_file {
 public:
  /// Makes the folder, and gives each line that is there already, without its end, to `take`.
  /// @throws kevo::error: environment where it cannot be written or another lab runs in it; input where the
  /// folder holds files and not this one, or where `take` throws
  line_file(const std::string& folder, const std::string& name,
            const std::function<void(std::string_view)>& take);
  line_file(const line_file&) = delete;
  line_file& operator=(const line_file&) = delete;
  ~line_file();

  /// @param line without its end
  void append(std::string line);

 private:
  void read(const std::function<void(std::string_view)>& take);

  std::string path_;
  int descriptor_ = -1;
};

/// Replaces FOLDER/NAME: a reader sees the old text or the new, never half of one. Returns the path.
/// @throws kevo::error (environment)
std::string write_result(const std::string& folder, const std::string& name, const std::string& text);

}  // namespace kevo
