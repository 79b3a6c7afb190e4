#pragma once
// Whether two programs are equal except for blanks and comments. In doubt they count as different.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include <kevo/program.hpp>

namespace kevo::detail {

/// The length of the quoted literal that begins at `at`, up to its closing quote or the end of the line.
inline std::size_t literal_length(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != text[at] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size()) - at;
}

/// Whether an apostrophe after the text `before` separates digits, as in 1'000 and 0xA'B: it does if the word
/// before it begins with a digit. Otherwise it begins a character literal, also after a prefix (L'a', u8'a').
inline bool separates_digits(std::string_view before) {
  std::size_t word = before.size();
  const auto goes_on = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '\'' || c == '.';
  };
  while (word > 0 && goes_on(before[word - 1])) --word;
  while (word < before.size() && before[word] == '.') ++word;
  return word < before.size() && std::isdigit(static_cast<unsigned char>(before[word])) != 0;
}

/// Whether a line ends with a backslash, so that the next line continues it. Blanks after the backslash are
/// allowed, because compilers ignore them.
inline bool continues_lines(std::string_view text) {
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at + 1)) {
    const std::size_t next = text.find_first_not_of(" \t\v\f\r", at + 1);
    if (next != std::string_view::npos && text[next] == '\n') return true;
  }
  return false;
}

/// C and C++ text without comments, with every run of blanks replaced by one. Line breaks are kept, because
/// the preprocessor reads line by line, and so are annotations (comments with "kevo:"). Text with a raw
/// string, or with a line continued by a backslash (which also continues a comment), is returned unchanged.
inline std::string without_blanks_and_comments(std::string_view text) {
  if (text.find("R\"") != std::string_view::npos || continues_lines(text)) return std::string(text);
  std::string result;
  const auto blank = [&result](char c) {
    if (result.empty() || result.back() == '\n') return;
    if (c == '\n') {
      if (result.back() == ' ') result.pop_back();
      if (!result.empty() && result.back() != '\n') result += '\n';
    } else if (result.back() != ' ') {
      result += ' ';
    }
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool line_comment = rest.starts_with("//");
    if (line_comment || rest.starts_with("/*")) {
      const std::size_t found = line_comment ? rest.find('\n') : rest.find("*/", 2);
      const std::size_t length =
          found == std::string_view::npos ? rest.size() : found + (line_comment ? 0 : 2);
      const std::string_view comment = rest.substr(0, length);
      if (comment.find("kevo:") != std::string_view::npos) {
        result += comment;
      } else {
        blank(' ');
      }
      at += length;
    } else if (std::isspace(static_cast<unsigned char>(rest.front())) != 0) {
      blank(rest.front());
      ++at;
    } else {
      const bool literal = rest.front() == '"' || (rest.front() == '\'' && !separates_digits(result));
      const std::size_t length = literal ? literal_length(text, at) : 1;
      result += rest.substr(0, length);
      at += length;
    }
  }
  while (!result.empty() && (result.back() == '\n' || result.back() == ' ')) result.pop_back();
  return result;
}

/// Text of a language whose comment syntax is not known here: without blanks at the ends of lines and without
/// empty lines.
inline std::string without_blank_ends(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t last = text.substr(0, end).find_last_not_of(" \t\r");
    if (last != std::string_view::npos) result.append(text.substr(0, last + 1)) += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

/// Whether two programs have the same language and, file by file, the same text except for blanks and
/// comments. File names are compared only if there are several files, because these include each other by
/// name.
inline bool same_source(const program& a, const program& b) {
  if (a.language != b.language || a.files.size() != b.files.size()) return false;
  const bool c_like = a.language == "cpp" || a.language == "cuda" || a.language == "c";
  for (std::size_t i = 0; i < a.files.size(); ++i) {
    if (a.files.size() > 1 && a.files[i].path != b.files[i].path) return false;
    const std::string& x = a.files[i].text;
    const std::string& y = b.files[i].text;
    if (x == y) continue;
    if (c_like ? without_blanks_and_comments(x) != without_blanks_and_comments(y)
               : without_blank_ends(x) != without_blank_ends(y))
      return false;
  }
  return true;
}

}  // namespace kevo::detail
