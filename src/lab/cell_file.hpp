#pragma once
// The finished cells of a lab on disk: one JSON object a line, appended, so that a killed lab goes on where
// it was.

#include <map>
#include <string>

#include "src/lab/cell.hpp"
#include "src/lab/line_file.hpp"

namespace kevo {

/// Keeps `cells.jsonl` open and locked. A cell that `append` returned from is on disk; a last line that was
/// cut off by a crash is dropped on opening. Not thread-safe.
class cell_file {
 public:
  /// Makes the folder. Throws kevo::error: environment where it cannot be written or another lab runs in it,
  /// input where a line is no cell.
  explicit cell_file(const std::string& folder);

  /// What is there already, by key.
  const std::map<content_id, cell_result>& cells() const { return cells_; }
  void append(cell_result cell);

 private:
  std::map<content_id, cell_result> cells_;  // before the file, whose lines fill it
  line_file file_;
};

}  // namespace kevo
