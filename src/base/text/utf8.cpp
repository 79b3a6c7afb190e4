#include "src/base/text/utf8.hpp"

#include <algorithm>
#include <array>

namespace kevo {

namespace {

struct span_of_character {
  std::size_t begin;
  std::size_t end;
};

// The character that a cut at `at` would divide, or nothing from `at` to `at`.
span_of_character divided_at(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  constexpr std::size_t most_bytes = 4;
  for (std::size_t back = 1; back < most_bytes && back <= at; ++back) {
    std::size_t end = at - back;
    next_code_point(text, end);
    if (end > at) return {at - back, end};
  }
  return {at, at};
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 && first <= 0xf4 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
  if (more == 0 || first > 0xf4 || at + static_cast<std::size_t>(more) > text.size()) return 0xfffd;
  char32_t c = first & (0x3fU >> more);
  for (int i = 0; i < more; ++i) {
    const unsigned char next = byte(at + static_cast<std::size_t>(i));
    if ((next & 0xc0U) != 0x80) return 0xfffd;
    c = (c << 6U) | (next & 0x3fU);
  }
  static constexpr std::array<char32_t, 4> least = {0, 0x80, 0x800, 0x10000};
  if (c < least[static_cast<std::size_t>(more)] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
    return 0xfffd;
  at += static_cast<std::size_t>(more);
  return c;
}

std::size_t boundary_before(std::string_view text, std::size_t at) {
  return divided_at(text, at).begin;
}

std::size_t boundary_after(std::string_view text, std::size_t at) {
  return divided_at(text, at).end;
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | (c >> 6U)), put(0x80 | (c & 0x3fU));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12U)), put(0x80 | ((c >> 6U) & 0x3fU)), put(0x80 | (c & 0x3fU));
  } else {
    put(0xf0 | (c >> 18U)), put(0x80 | ((c >> 12U) & 0x3fU)), put(0x80 | ((c >> 6U) & 0x3fU)),
        put(0x80 | (c & 0x3fU));
  }
}

std::string as_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) append_utf8(clean, next_code_point(text, at));
  return clean;
}

}  // namespace kevo
