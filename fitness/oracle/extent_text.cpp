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

// The expression with C++'s names. Operators, their precedence and `?:` are the same; extents are not
// negative, so that both languages divide alike.
std::string in_cpp(std::string_view text, const axis_word& word) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    if (!starts_word(text[at])) {
      const bool number = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
      std::size_t end = at + 1;
      while (number && end < text.size() && in_word(text[end])) ++end;  // 0x1f
      const auto piece = text.substr(at, end - at);
      made += number ? fmt::format("std::int64_t{{{}}}", piece) : std::string(piece);
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
      made += word(name);
    } else if (name == "sizeof") {
      const std::size_t close = text.find(')', next);
      auto dtype = text.substr(next + 1, close - next - 1);
      while (dtype.starts_with(' ')) dtype.remove_prefix(1);
      while (dtype.ends_with(' ')) dtype.remove_suffix(1);
      const auto known = find_dtype(dtype);
      made += fmt::format("std::int64_t{{{}}}", known ? known->size : 0);
      at = close + 1;
    } else {
      made += fmt::format("kevo_extent::{}", name);
    }
  }
  return made;
}

constexpr const char* functions = R"(namespace kevo_extent {
constexpr std::int64_t ceildiv(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t align_up(std::int64_t a, std::int64_t n) { return ceildiv(a, n) * n; }
constexpr std::int64_t min(std::int64_t a) { return a; }
constexpr std::int64_t max(std::int64_t a) { return a; }
template <class... Rest>
constexpr std::int64_t min(std::int64_t a, std::int64_t b, Rest... rest) {
  return min(a < b ? a : b, rest...);
}
template <class... Rest>
constexpr std::int64_t max(std::int64_t a, std::int64_t b, Rest... rest) {
  return max(a < b ? b : a, rest...);
}
constexpr std::int64_t log2_ceil(std::int64_t a) {
  std::int64_t power = 0;
  while (power < 62 && (std::int64_t{1} << power) < a) ++power;
  return power;
}
constexpr std::int64_t pow2_ceil(std::int64_t a) { return std::int64_t{1} << log2_ceil(a); }
}  // namespace kevo_extent
)";

}  // namespace

std::string element_count_text(const tensor& x, const axis_word& word) {
  std::string text;
  for (const auto& extent : x.shape)
    text += (text.empty() ? "" : " * ") + (is_name(extent) ? word(extent) : "(" + in_cpp(extent, word) + ")");
  return text.empty() ? "std::int64_t{1}" : text;
}

std::string extent_functions(const task& t) {
  for (const auto* list : {&t.inputs, &t.outputs}) {
    for (const auto& x : *list) {
      const auto calls = [](const std::string& extent) { return extent.find('(') != std::string::npos; };
      if (std::any_of(x.shape.begin(), x.shape.end(), calls)) return functions;
    }
  }
  return {};
}

}  // namespace kevo
