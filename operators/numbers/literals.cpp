#include "operators/numbers/literals.hpp"

#include <algorithm>
#include <array>

#include <kevo/detail/literal.hpp>

namespace kevo {
namespace {

using detail::is_digit;
using detail::is_name_char;
using detail::is_name_start;

constexpr std::array<std::string_view, 11> hash_languages = {
    "python", "triton", "r", "julia", "ruby", "sh", "yaml", "toml", "perl", "text", "md"};

class scanner {
 public:
  scanner(std::string_view text, std::string_view language)
      : text_(text),
        hash_(std::find(hash_languages.begin(), hash_languages.end(), language) != hash_languages.end()),
        fortran_(language == "fortran"),
        python_(language == "python" || language == "triton" || language == "julia"),
        plain_(language == "text" || language == "md") {}

  std::vector<number_literal> scan() {
    while (at_ < text_.size()) {
      if (skip_comment() || skip_quotes() || skip_name()) continue;
      if (is_digit(text_[at_])) {
        read_number();
      } else {
        ++at_;
      }
    }
    return std::move(found_);
  }

 private:
  bool starts(std::string_view word) const { return text_.substr(at_, word.size()) == word; }
  void skip_past(std::string_view end, std::size_t from) {
    const auto found = text_.find(end, from);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  bool skip_comment() {
    if (starts(hash_ ? "#" : fortran_ ? "!" : "//")) {
      skip_past("\n", at_);
      return true;
    }
    if (hash_ || fortran_ || !starts("/*")) return false;
    skip_past("*/", at_ + 2);
    return true;
  }

  bool skip_quotes() {
    const char quote = text_[at_];
    if (plain_ || (quote != '"' && quote != '\'')) return false;
    const std::string_view three = text_.substr(at_, 3);
    if (python_ && three.size() == 3 && three[1] == quote && three[2] == quote) {
      skip_past(three, at_ + 3);
      return true;
    }
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        break;
      }
    }
    return true;
  }

  bool skip_name() {
    if (!is_name_start(text_[at_])) return false;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    return true;
  }

  /// A point and an exponent belong to it if digits follow them; "1." does, too, but not "1..10" or "1.real".
  void read_number() {
    number_literal one{at_, 0, true};
    std::size_t end = digits_from(at_);
    const auto next = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
    if (next(end) == '.' && next(end + 1) != '.' && !is_name_start(next(end + 1))) {
      one.whole = false;
      end = digits_from(end + 1);
    }
    if (next(end) == 'e' || next(end) == 'E') {
      std::size_t exponent = end + 1;
      if (next(exponent) == '+' || next(exponent) == '-') ++exponent;
      if (is_digit(next(exponent))) {
        one.whole = false;
        end = digits_from(exponent);
      }
    }
    one.length = end - one.offset;
    // 0x1F, 0b1, 1_000 and versions like 1.2.3 are other things.
    const bool other = next(end) == 'x' || next(end) == 'X' || next(end) == 'b' || next(end) == 'o' ||
                       next(end) == '_' || (!one.whole && next(end) == '.') || one.length > 17;
    if (!other) found_.push_back(one);
    at_ = end;
    while (at_ < text_.size() && (is_name_char(text_[at_]) || (other && text_[at_] == '.'))) ++at_;
  }
  std::size_t digits_from(std::size_t i) const {
    while (i < text_.size() && is_digit(text_[i])) ++i;
    return i;
  }

  std::string_view text_;
  bool hash_, fortran_, python_, plain_;
  std::size_t at_ = 0;
  std::vector<number_literal> found_;
};

}  // namespace

std::vector<number_literal> number_literals(std::string_view text, std::string_view language) {
  return scanner(text, language).scan();
}

}  // namespace kevo
