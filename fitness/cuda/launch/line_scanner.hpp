#pragma once
// Reads one launch line from left to right; for launch_lines.cpp.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/detail/literal.hpp>
#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>
#include <kevo/expression.hpp>

namespace kevo::cuda::detail {

/// A piece of the line and where it begins, as an offset in it.
struct piece {
  std::string_view text;
  std::size_t at = 0;
};

/// A cursor over a line. Every `fail` names the column.
class line_scanner {
 public:
  line_scanner(std::string_view text, error_place place) : text_(text), place_(std::move(place)) {
    if (place_.column < 1) place_.column = 1;
  }

  std::size_t at() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  bool at_end() const { return at_ == text_.size(); }
  error_place place(std::size_t at) const {
    auto result = place_;
    result.column += static_cast<int>(at);
    return result;
  }
  [[noreturn]] void fail(std::size_t at, const std::string& message, const std::string& hint = {}) const {
    throw error(error_code::input, message, place(at), hint);
  }
  std::string shown_here() const {
    if (at_end()) return "the end of the line";
    std::size_t end = kevo::detail::end_of_name(text_, at_);
    if (end == at_) end = at_ + 1;
    return "'" + kevo::detail::shown(text_.substr(at_, end - at_), 24) + "'";
  }

  void skip() { at_ = kevo::detail::skip_blanks(text_, at_); }
  bool accept(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    at_ += token.size();
    skip();
    return true;
  }
  void expect(std::string_view token, const std::string& where) {
    if (!accept(token)) {
      fail(at_, "expected '" + std::string(token) + "' " + where + ", found " + shown_here());
    }
  }
  /// The name here; empty if there is none. The cursor moves past it.
  piece name() {
    const std::size_t start = at_;
    at_ = kevo::detail::end_of_name(text_, at_);
    const piece result{text_.substr(start, at_ - start), start};
    skip();
    return result;
  }
  /// The name here without moving.
  std::string_view peek_name() const {
    return text_.substr(at_, kevo::detail::end_of_name(text_, at_) - at_);
  }

  /// What stands between the bracket here and its partner; the cursor moves past both.
  piece bracketed() {
    const std::size_t open = at_;
    const std::size_t close = partner(open);
    const piece result = trim({text_.substr(open + 1, close - open - 1), open + 1});
    at_ = close + 1;
    skip();
    return result;
  }
  /// Up to the first `token` outside of brackets; the cursor moves past the token. For ":", the colons of
  /// `? :` are passed over.
  piece until(std::string_view token, const std::string& what) {
    const std::size_t start = at_;
    int ternaries = 0;
    for (std::size_t i = at_; i < text_.size(); ++i) {
      if (is_open(text_[i])) {
        i = partner(i);
        continue;
      }
      if (text_[i] == '?') ++ternaries;
      if (!text_.substr(i).starts_with(token)) continue;
      if (token == ":" && ternaries > 0) {
        --ternaries;
        continue;
      }
      at_ = i + token.size();
      skip();
      return trim({text_.substr(start, i - start), start});
    }
    fail(text_.size(), "'" + std::string(token) + "' is missing after " + what);
  }
  piece take_rest() {
    const piece result = trim({rest(), at_});
    at_ = text_.size();
    return result;
  }

  /// The parts of a piece between commas outside of brackets. `angles`: < > are brackets, too.
  std::vector<piece> split(const piece& whole, bool angles = false) const {
    std::vector<piece> parts;
    if (whole.text.empty()) return parts;
    const std::size_t end = whole.at + whole.text.size();
    std::size_t start = whole.at;
    int depth = 0;
    for (std::size_t i = start; i < end; ++i) {
      if (is_open(text_[i])) {
        i = partner(i);
        continue;
      }
      if (angles && text_[i] == '<') ++depth;
      if (angles && text_[i] == '>' && depth > 0) --depth;
      if (text_[i] != ',' || depth > 0) continue;
      parts.push_back(trim({text_.substr(start, i - start), start}));
      start = i + 1;
    }
    parts.push_back(trim({text_.substr(start, end - start), start}));
    return parts;
  }

  expression integer(const piece& p) const { return expression::parse(p.text, place(p.at)); }
  /// Whether a piece is one pair of brackets with all of it inside.
  bool is_group(const piece& p) const {
    return !p.text.empty() && is_open(p.text.front()) && partner(p.at) == p.at + p.text.size() - 1;
  }
  /// What is inside of such a pair.
  static piece inside(const piece& p) { return trim({p.text.substr(1, p.text.size() - 2), p.at + 1}); }
  static piece trim(piece p) {
    const std::size_t lead = kevo::detail::skip_blanks(p.text, 0);
    return {kevo::detail::trimmed(p.text), p.at + lead};
  }

 private:
  static bool is_open(char c) { return c == '(' || c == '[' || c == '{'; }
  static char closing(char c) { return c == '(' ? ')' : c == '[' ? ']' : '}'; }
  /// Offset of the bracket that closes the one at `open`. O(length), without recursion.
  std::size_t partner(std::size_t open) const {
    std::string expected;
    for (std::size_t i = open; i < text_.size(); ++i) {
      const char c = text_[i];
      if (is_open(c)) {
        expected += closing(c);
      } else if (c == ')' || c == ']' || c == '}') {
        if (expected.empty() || expected.back() != c)
          fail(i, std::string("'") + c + "' has no matching opening character");
        expected.pop_back();
        if (expected.empty()) return i;
      }
    }
    fail(open, std::string("'") + text_[open] + "' has no matching closing character");
  }

  std::string_view text_;
  error_place place_;
  std::size_t at_ = 0;
};

}  // namespace kevo::cuda::detail
