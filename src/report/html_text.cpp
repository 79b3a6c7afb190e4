#include "src/report/html_text.hpp"

#include <fmt/format.h>

#include "src/base/text/utf8.hpp"

namespace kevo::html {

namespace {
bool reorders(char32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}
void put(std::string& out, char32_t c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&#39;";
      return;
    case '\t':
    case '\n':
      out += static_cast<char>(c);
      return;
    case '\r':
      return;
    default:
      break;
  }
  const bool noncharacter = (c & 0xfffeU) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
  if (c < 0x20 || (c >= 0x7f && c < 0xa0) || noncharacter) {
    out += "\xef\xbf\xbd";
  } else if (reorders(c)) {
    out += fmt::format("[U+{:04X}]", static_cast<unsigned>(c));
  } else {
    append_utf8(out, c);
  }
}
}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0; at < text.size();) put(result, next_code_point(text, at));
  return result;
}

std::string escape_short(std::string_view text, std::size_t most) {
  std::string result;
  std::size_t n = 0;
  for (std::size_t at = 0; at < text.size(); ++n) {
    if (n == most) return result + "…";
    const char32_t c = next_code_point(text, at);
    put(result, c == '\n' || c == '\t' ? U' ' : c);
  }
  return result;
}

}  // namespace kevo::html
