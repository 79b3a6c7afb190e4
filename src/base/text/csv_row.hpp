#pragma once
// A line of a CSV file, safe for spreadsheets.

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace kevo {

/// One line of a CSV file (RFC 4180). Every call of a member but `end` adds a cell.
class csv_row {
 public:
  /// Spreadsheets take a cell that begins like a formula for one, whoever wrote it: such a text gets an
  /// apostrophe before it, which they do not show. Control characters are for no reader of tables.
  csv_row& text(std::string_view given);
  /// What is not finite is empty.
  csv_row& number(double value);
  /// What was not measured is empty.
  csv_row& measured(double value) { return value > 0 ? number(value) : nothing(); }
  csv_row& count(std::size_t value);
  csv_row& nothing();
  /// Writes the line and begins the next one.
  void end(std::ostream& out);

 private:
  void quote(std::string_view value);
  void separate();
  std::string line_;
  bool first_ = true;
};

}  // namespace kevo
