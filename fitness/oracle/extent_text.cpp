#include "fitness/oracle/extent_text.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <kevo/dtype.hpp>

namespace kevo {
namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_name(std::string_view extent) {
  return !extent.empty() && starts_word(extent.front()) && std::all_of(extent.begin(), extent.end(), in_word);
}

// The expression with C++'s names. Operators, their precedence and `?:` are the same. Numbers and axes become
// `whole`, a type of the generated text, because a part of an extent may be negative (-(-M / 4)): kevo's
// division rounds down, and that of C++ integers towards zero.
std::string in_cpp(std::string_view text, const axis_word& word) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    if (!starts_word(text[at])) {
      const bool number = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
      std::size_t end = at + 1;
      while (number && end < text.size() && in_word(text[end])) ++end;  // 0x1f
      const auto piece = text.substr(at, end - at);
      made += number ? fmt::format("kevo_extent::whole({})", piece) : std::string(piece);
      at = end;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    const auto name = text.substr(at, end - at);
    const std::size_t next = text.find_first_not_of(" \t", end);
    const bool called = next != std::string_view::npos && text[next] == '(';
    at = end;
    if (!called) {
      made += fmt::format("kevo_extent::whole({})", word(name));
    } else if (name == "sizeof") {
      const std::size_t close = text.find(')', next);
      auto dtype = text.substr(next + 1, close - next - 1);
      while (dtype.starts_with(' ')) dtype.remove_prefix(1);
      while (dtype.ends_with(' ')) dtype.remove_suffix(1);
      const auto known = find_dtype(dtype);
      made += fmt::format("kevo_extent::whole({})", known ? known->size : 0);
      at = close + 1;
    } else {
      made += fmt::format("kevo_extent::{}", name);
    }
  }
  return made;
}

constexpr const char* functions = R"(namespace kevo_extent {
struct whole {
  std::int64_t value;
  constexpr whole(std::int64_t x) : value(x) {}
  constexpr explicit operator bool() const { return value != 0; }
};
constexpr whole operator+(whole a, whole b) { return a.value + b.value; }
constexpr whole operator-(whole a, whole b) { return a.value - b.value; }
constexpr whole operator*(whole a, whole b) { return a.value * b.value; }
constexpr whole operator<<(whole a, whole b) { return a.value << b.value; }
constexpr whole operator>>(whole a, whole b) { return a.value >> b.value; }
constexpr whole operator<(whole a, whole b) { return a.value < b.value; }
constexpr whole operator<=(whole a, whole b) { return a.value <= b.value; }
constexpr whole operator>(whole a, whole b) { return a.value > b.value; }
constexpr whole operator>=(whole a, whole b) { return a.value >= b.value; }
constexpr whole operator==(whole a, whole b) { return a.value == b.value; }
constexpr whole operator!=(whole a, whole b) { return a.value != b.value; }
constexpr whole operator-(whole a) { return -a.value; }
constexpr whole operator!(whole a) { return a.value == 0; }
constexpr whole operator/(whole a, whole b) {
  const std::int64_t quotient = a.value / b.value;
  return quotient * b.value != a.value && (a.value < 0) != (b.value < 0) ? quotient - 1 : quotient;
}
constexpr whole operator%(whole a, whole b) { return a - a / b * b; }
constexpr whole ceildiv(whole a, whole b) { return -(-a / b); }
constexpr whole align_up(whole a, whole n) { return ceildiv(a, n) * n; }
constexpr whole min(whole a) { return a; }
constexpr whole max(whole a) { return a; }
template <class... Rest>
constexpr whole min(whole a, whole b, Rest... rest) {
  return min(a.value < b.value ? a : b, whole(rest)...);
}
template <class... Rest>
constexpr whole max(whole a, whole b, Rest... rest) {
  return max(a.value < b.value ? b : a, whole(rest)...);
}
constexpr whole log2_ceil(whole a) {
  std::int64_t power = 0;
  while (power < 62 && (std::int64_t{1} << power) < a.value) ++power;
  return power;
}
constexpr whole pow2_ceil(whole a) { return std::int64_t{1} << log2_ceil(a).value; }
}  // namespace kevo_extent
)";

}  // namespace

std::string element_count_text(const tensor& x, const axis_word& word) {
  std::string text;
  for (const auto& extent : x.shape)
    text += (text.empty() ? "" : " * ") +
            (is_name(extent) ? word(extent) : "kevo_extent::whole(" + in_cpp(extent, word) + ").value");
  return text.empty() ? "std::int64_t{1}" : text;
}

std::string extent_functions(const task& t) {
  for (const auto* list : {&t.inputs, &t.outputs}) {
    for (const auto& x : *list) {
      if (!std::all_of(x.shape.begin(), x.shape.end(), is_name)) return functions;
    }
  }
  return {};
}

}  // namespace kevo
