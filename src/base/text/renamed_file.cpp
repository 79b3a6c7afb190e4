#include "src/base/text/renamed_file.hpp"

namespace kevo {
namespace {

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/';
}

}  // namespace

std::string with_renamed_file(std::string_view text, std::string_view from, std::string_view to) {
  std::string made;
  if (from.empty() || to.empty()) return std::string(text);
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(from, at)) != std::string_view::npos;) {
    const std::size_t end = found + from.size();
    const bool whole = found == 0 || !in_name(text[found - 1]);
    // "kernel.cpp:3: error" and "kernel.cpp: In function"
    const char next = end + 1 < text.size() && text[end] == ':' ? text[end + 1] : '\0';
    const bool place = (next >= '0' && next <= '9') || next == ' ';
    made += text.substr(at, found - at);
    made += whole && place ? to : from;
    at = end;
  }
  return made += text.substr(at);
}

}  // namespace kevo
