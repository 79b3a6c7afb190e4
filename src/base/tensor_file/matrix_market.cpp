#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include <kevo/detail/nearest.hpp>

#include "src/base/tensor_file/tensor_file.hpp"

namespace kevo {
namespace {

constexpr std::int64_t largest_extent = std::int64_t{1} << 40U;

struct entry {
  std::int64_t row;
  std::int64_t column;
  double value;
};

class matrix_reader {
 public:
  matrix_reader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  sparse_matrix read() {
    banner();
    sizes();
    std::vector<entry> entries;
    // What the size line promises is not believed: the shortest line is "1 1" or "1 1 0", and its end.
    const std::size_t shortest = pattern_ ? 4 : 6;
    if (static_cast<std::uint64_t>(stored_) > rest_.size() / shortest + 1)
      fail("the size line promises " + std::to_string(stored_) +
               " entries, and the file is too short for them",
           "the file was cut off");
    const std::size_t halves = symmetric_ || skew_ ? 2 : 1;
    entries.reserve(halves * static_cast<std::size_t>(stored_));
    for (std::int64_t i = 0; i < stored_; ++i) add(entries, i);
    while (next_line())
      fail("there are more entries than the " + std::to_string(stored_) + " of the size line");
    return compressed(std::move(entries));
  }

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const {
    // A place holds an int; a file of 4 GiB may have more lines.
    const auto line = static_cast<int>(std::min<std::int64_t>(line_, std::numeric_limits<int>::max()));
    throw error(error_code::input, message, {.file = file_, .line = line}, hint);
  }

  // The next line that is neither empty nor a comment.
  bool next_line() {
    while (!rest_.empty()) {
      const auto end = std::min(rest_.find('\n'), rest_.size());
      text_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      if (text_.ends_with('\r')) text_.remove_suffix(1);
      const auto begin = text_.find_first_not_of(" \t");
      if (begin != std::string_view::npos && text_[begin] != '%') return true;
    }
    ++line_;
    return false;
  }

  /// Whether a decimal number that no double can hold is too small, not too large. std::from_chars does not
  /// say which: the exponent of the first digit that is not 0 does.
  static bool is_tiny(std::string_view text) {
    const auto mark = std::min(text.find_first_of("eE"), text.size());
    const auto digits = text.substr(0, mark);
    const auto first = digits.find_first_of("123456789");
    if (first == std::string_view::npos) return true;
    const auto point = std::min(digits.find('.'), digits.size());
    // Of the first digit: 0 for that before the point.
    const std::int64_t place = first < point ? static_cast<std::int64_t>(point - first) - 1
                                             : -static_cast<std::int64_t>(first - point);
    auto power = text.substr(std::min(mark + 1, text.size()));
    if (power.starts_with('+')) power.remove_prefix(1);
    std::int64_t exponent = 0;
    const auto parsed = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (parsed.ec == std::errc::result_out_of_range) return power.starts_with('-');
    return exponent < -place;
  }

  std::string_view word() {
    const auto begin = std::min(text_.find_first_not_of(" \t"), text_.size());
    text_.remove_prefix(begin);
    const auto end = std::min(text_.find_first_of(" \t"), text_.size());
    const auto found = text_.substr(0, end);
    text_.remove_prefix(end);
    return found;
  }

  std::string lower_word() {
    std::string found(word());
    for (auto& c : found) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return found;
  }

  void banner() {
    const auto end = std::min(rest_.find('\n'), rest_.size());
    text_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    line_ = 1;
    if (text_.ends_with('\r')) text_.remove_suffix(1);
    if (lower_word() != "%%matrixmarket" || lower_word() != "matrix")
      fail("this is not a Matrix Market file: it does not start with '%%MatrixMarket matrix'");
    if (const auto format = lower_word(); format != "coordinate") {
      fail("the format '" + detail::shown(format) + "' is not supported",
           "only 'coordinate' is; save dense matrices with numpy.save");
    }
    const auto field = lower_word();
    pattern_ = field == "pattern";
    if (!pattern_ && field != "real" && field != "integer")
      fail("elements of the kind '" + detail::shown(field) + "' are not supported",
           "real, integer and pattern are");
    const auto symmetry = lower_word();
    symmetric_ = symmetry == "symmetric";
    skew_ = symmetry == "skew-symmetric";
    if (!symmetric_ && !skew_ && symmetry != "general")
      fail("the symmetry '" + detail::shown(symmetry) + "' is not supported",
           "general, symmetric and skew-symmetric are");
  }

  std::int64_t integer(const char* what, std::int64_t least, std::int64_t most) {
    const auto text = word();
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < least ||
        value > most) {
      fail(std::string(what) + " '" + detail::shown(text) + "' is not an integer from " +
           std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

  void end_of_line() {
    if (const auto more = word(); !more.empty()) fail("unexpected '" + detail::shown(more) + "'");
  }

  void sizes() {
    if (!next_line()) fail("the line with the sizes is missing");
    made_.rows = integer("the number of rows", 1, largest_extent);
    made_.columns = integer("the number of columns", 1, largest_extent);
    stored_ = integer("the number of entries", 0, largest_extent);
    end_of_line();
    if ((symmetric_ || skew_) && made_.rows != made_.columns) fail("a symmetric matrix must be square");
    // Empty rows take memory that no byte of the file pays for.
    if (made_.rows > most_rows) fail("more than " + std::to_string(most_rows) + " rows are not supported");
  }

  void add(std::vector<entry>& entries, std::int64_t number) {
    if (!next_line()) {
      fail("the size line promises " + std::to_string(stored_) + " entries, and there are " +
               std::to_string(number),
           "the file was cut off");
    }
    entry one{};
    one.row = integer("the row", 1, made_.rows) - 1;
    one.column = integer("the column", 1, made_.columns) - 1;
    one.value = 1;
    if (!pattern_) {
      auto text = word();
      if (text.starts_with('+')) text.remove_prefix(1);
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), one.value);
      const bool whole = parsed.ptr == text.data() + text.size();
      if (parsed.ec == std::errc::result_out_of_range && whole && is_tiny(text)) {
        one.value = text.starts_with('-') ? -0.0 : 0.0;
      } else if (parsed.ec != std::errc() || !whole || !std::isfinite(one.value))
        fail("the value '" + detail::shown(text) + "' is not a finite number");
    }
    end_of_line();
    entries.push_back(one);
    if (!symmetric_ && !skew_) return;
    if (one.column > one.row) fail("a symmetric matrix stores the lower triangle only");
    if (skew_ && one.column == one.row) fail("a skew-symmetric matrix stores no diagonal");
    if (one.column < one.row) entries.push_back({one.column, one.row, skew_ ? -one.value : one.value});
  }

  sparse_matrix compressed(std::vector<entry> entries) {
    const auto before = [](const entry& a, const entry& b) {
      return a.row != b.row ? a.row < b.row : a.column < b.column;
    };
    std::sort(entries.begin(), entries.end(), before);
    made_.row_start.assign(static_cast<std::size_t>(made_.rows) + 1, 0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& one = entries[i];
      if (i > 0 && !before(entries[i - 1], one)) {
        line_ = 0;
        fail("the entry (" + std::to_string(one.row + 1) + ", " + std::to_string(one.column + 1) +
             ") is given twice");
      }
      ++made_.row_start[static_cast<std::size_t>(one.row) + 1];
      made_.column.push_back(one.column);
      made_.value.push_back(one.value);
    }
    std::partial_sum(made_.row_start.begin(), made_.row_start.end(), made_.row_start.begin());
    return std::move(made_);
  }

  static constexpr std::int64_t most_rows = std::int64_t{1} << 26U;

  std::string_view rest_;
  std::string_view text_;  // what is left of the line
  const std::string& file_;
  std::int64_t line_ = 0;
  bool pattern_ = false;
  bool symmetric_ = false;
  bool skew_ = false;
  std::int64_t stored_ = 0;
  sparse_matrix made_;
};

}  // namespace

sparse_matrix parse_matrix_market(std::string_view contents, const std::string& file) {
  return matrix_reader(contents, file).read();
}

}  // namespace kevo
