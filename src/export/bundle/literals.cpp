#include "src/export/bundle/literals.hpp"

#include <iterator>
#include <sstream>

#include <fmt/format.h>

namespace kevo::bundle {

std::string cpp_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      literal += '\\';
      literal += c;
    } else if (code < 0x20U || code >= 0x7fU || c == '?') {
      literal += fmt::format("\\{:03o}", code);  // three digits end the escape; "??" could begin a trigraph
    } else {
      literal += c;
    }
  }
  return literal + '"';
}

std::string cpp_literals(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + cpp_literal(word);
  return text;
}

std::string cmake_word(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c == '\\' || c == '\'' || c == '"' || c == ' ') text += '\\';
    text += c;
  }
  return text;
}

std::string cmake_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace kevo::bundle
