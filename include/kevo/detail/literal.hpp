#pragma once
// Reading literals and names in source text of any language.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kevo {

/// The value of an integer literal as written in C, C++ and Python (sign, decimal, 0x, suffixes u, l and z),
/// and of true and false; nothing for other literals, and for values that do not fit in 64 bits.
std::optional<std::int64_t> integer_literal(std::string_view literal);

namespace detail {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}
inline bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_name_char(char c) {
  return is_name_start(c) || is_digit(c);
}

inline std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}
inline std::size_t end_of_name(std::string_view text, std::size_t at) {
  if (at < text.size() && is_name_start(text[at])) {
    while (at < text.size() && is_name_char(text[at])) ++at;
  }
  return at;
}
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text.substr(skip_blanks(text, 0));
}

/// The end of the literal that starts at `at`: a number, a name (also a::b) or a quoted string; `at` if there
/// is none.
inline std::size_t end_of_literal(std::string_view text, std::size_t at) {
  if (at >= text.size()) return at;
  const char first = text[at];
  if (first == '"' || first == '\'') {
    for (std::size_t i = at + 1; i < text.size(); ++i) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == first)
        return i + 1;
    }
    return at;
  }
  if (is_name_start(first)) {
    std::size_t end = end_of_name(text, at);
    while (text.substr(end, 2) == "::" && end_of_name(text, end + 2) > end + 2)
      end = end_of_name(text, end + 2);
    return end;
  }
  std::size_t i = at;
  if (first == '-' || first == '+') ++i;
  const bool number = i < text.size() &&
                      (is_digit(text[i]) || (text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1])));
  if (!number) return at;
  const bool hex = text.substr(i, 2) == "0x" || text.substr(i, 2) == "0X";
  while (i < text.size()) {
    const char c = text[i];
    const bool exponent_sign =
        (c == '-' || c == '+') && i > at && !hex && (text[i - 1] == 'e' || text[i - 1] == 'E');
    // "1..8" is a range: the dots are not part of the number 1.
    const bool point = c == '.' && text.substr(i, 2) != "..";
    if (!is_name_char(c) && !exponent_sign && !point) break;
    ++i;
  }
  return i;
}

}  // namespace detail

inline std::optional<std::int64_t> integer_literal(std::string_view literal) {
  if (literal == "true" || literal == "True") return 1;
  if (literal == "false" || literal == "False") return 0;
  bool negative = false;
  if (!literal.empty() && (literal.front() == '-' || literal.front() == '+')) {
    negative = literal.front() == '-';
    literal.remove_prefix(1);
  }
  std::uint64_t base = 10;
  if (literal.substr(0, 2) == "0x" || literal.substr(0, 2) == "0X") {
    base = 16;
    literal.remove_prefix(2);
  } else if (literal.size() > 1 && literal.front() == '0' && detail::is_digit(literal[1])) {
    return std::nullopt;  // octal in C, an error in Python: not accepted
  }
  const std::uint64_t limit = (std::uint64_t{1} << 63U) - (negative ? 0 : 1);
  std::uint64_t value = 0;
  std::size_t at = 0;
  for (; at < literal.size(); ++at) {
    const char c = literal[at];
    std::uint64_t digit = base;
    if (detail::is_digit(c))
      digit = static_cast<std::uint64_t>(c - '0');
    else if (base == 16 && c >= 'a' && c <= 'f')
      digit = static_cast<std::uint64_t>(c - 'a') + 10;
    else if (base == 16 && c >= 'A' && c <= 'F')
      digit = static_cast<std::uint64_t>(c - 'A') + 10;
    if (digit >= base) break;
    if (value > (limit - digit) / base) return std::nullopt;
    value = value * base + digit;
  }
  if (at == 0) return std::nullopt;
  for (; at < literal.size(); ++at) {
    if (std::string_view("uUlLzZ").find(literal[at]) == std::string_view::npos) return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

}  // namespace kevo
