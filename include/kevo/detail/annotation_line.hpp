#pragma once
// One line of a source while its annotations are read, and the domains in it. Include <kevo/annotation.hpp>
// instead.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/detail/literal.hpp>
#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>

namespace kevo::detail {

/// A line of a file, without its line break.
struct annotation_line {
  std::string_view text;
  std::string path;
  int number = 0;         ///< 1-based
  std::size_t start = 0;  ///< offset of the line in the file's text, in bytes

  error_place place(std::size_t column) const { return {path, number, static_cast<int>(column) + 1, {}}; }
  [[noreturn]] void fail(std::size_t column, const std::string& message, const std::string& hint = {}) const {
    throw error(error_code::input, message, place(column), hint);
  }
};

/// Reads a domain such as {1, 2, 4} or {8..64 step 8}.
class domain_reader {
 public:
  static constexpr std::size_t max_domain = 10000;
  static constexpr const char* too_large = "use fewer values or a larger step";

  explicit domain_reader(const annotation_line& line) : line_(&line), text_(line.text) {}

  /// Returns the values of the domain whose '{' is at `brace`, and sets `end` to the offset behind its '}'.
  /// Throws kevo::error (input) for a domain that is empty, malformed or too large, and for repeated values.
  std::vector<std::string> read(std::size_t brace, std::size_t& end) const {
    std::vector<std::string> values;
    std::set<std::string> known;
    std::size_t at = skip_blanks(text_, brace + 1);
    if (at < text_.size() && text_[at] == '}')
      line_->fail(brace, "the domain is empty", "write the values between the braces, for example {1, 2, 4}");
    for (;;) {
      const std::size_t after = end_of_literal(text_, at);
      if (after == at) line_->fail(at, "expected a value: a number, a name or a quoted string");
      const std::string value(text_.substr(at, after - at));
      const std::size_t next = skip_blanks(text_, after);
      if (text_.substr(next, 2) == "..") {
        if (!values.empty())
          line_->fail(at, "a domain cannot hold both single values and a range",
                      "write {lo..hi}, or list all values");
        return read_range(value, at, next + 2, end);
      }
      const auto number = integer_literal(value);
      if (!known.insert(number ? std::to_string(*number) : value).second)
        line_->fail(at, "the domain has the value " + shown(value) + " more than once",
                    "remove the repeated value");
      values.push_back(value);
      if (values.size() > max_domain) line_->fail(at, "the domain has more than 10000 values", too_large);
      if (next >= text_.size()) line_->fail(next, "the closing '}' is missing");
      if (text_[next] == '}') {
        end = next + 1;
        return values;
      }
      if (text_[next] != ',') line_->fail(next, "expected ',' or '}'");
      at = skip_blanks(text_, next + 1);
    }
  }

 private:
  std::int64_t range_integer(std::size_t at, std::size_t& end) const {
    end = end_of_literal(text_, at);
    const auto value = integer_literal(text_.substr(at, end - at));
    if (!value)
      line_->fail(at, "the end and the step of a range must be integers",
                  "write {lo..hi} or {lo..hi step s}");
    return *value;
  }

  std::vector<std::string> read_range(const std::string& first, std::size_t first_at, std::size_t at,
                                      std::size_t& end) const {
    const auto low = integer_literal(first);
    if (!low)
      line_->fail(first_at, "the start of a range must be an integer", "write {lo..hi} or {lo..hi step s}");
    at = skip_blanks(text_, at);
    std::size_t after = at;
    const std::int64_t high = range_integer(at, after);
    if (high < *low) line_->fail(at, "the end of the range is less than its start");
    std::int64_t step = 1;
    at = skip_blanks(text_, after);
    if (text_.substr(at, 4) == "step") {
      const std::size_t step_at = skip_blanks(text_, at + 4);
      step = range_integer(step_at, after);
      if (step < 1) line_->fail(step_at, "the step of a range must be positive");
      at = skip_blanks(text_, after);
    }
    if (at >= text_.size() || text_[at] != '}') line_->fail(at, "expected 'step' or '}'");
    end = at + 1;
    const std::uint64_t count = (static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(*low)) /
                                static_cast<std::uint64_t>(step);
    if (count >= max_domain) line_->fail(first_at, "the domain has more than 10000 values", too_large);
    std::vector<std::string> values;
    for (std::uint64_t i = 0; i <= count; ++i) {
      // Unsigned, because the width of the range may need 64 bits.
      const std::uint64_t offset = i * static_cast<std::uint64_t>(step);
      values.push_back(std::to_string(static_cast<std::int64_t>(static_cast<std::uint64_t>(*low) + offset)));
    }
    return values;
  }

  const annotation_line* line_;
  std::string_view text_;
};

}  // namespace kevo::detail
