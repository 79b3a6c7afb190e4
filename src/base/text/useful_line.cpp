#include "src/base/text/useful_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace kevo {
namespace {

bool holds(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

std::string_view trimmed(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// Whether `word` stands in the line as a word of its own: not as a part of a name or of a path.
bool holds_word(std::string_view line, std::string_view word) {
  const auto joins = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '/' || c == '.';
  };
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !joins(line[at - 1])) && (end == line.size() || !joins(line[end]))) return true;
  }
  return false;
}

/// Lines with which compilers lead up to an error, or that speak of something else.
bool is_introduction(std::string_view line) {
  static constexpr std::array<std::string_view, 12> marks = {"In file included from ",
                                                             ": In function ",
                                                             ": In member function ",
                                                             ": In constructor ",
                                                             ": In lambda function",
                                                             ": In instantiation of",
                                                             ": In substitution of",
                                                             ": At global scope",
                                                             "required from",
                                                             "required by",
                                                             " note: ",
                                                             " warning: "};
  if (line.starts_with("from ") && (line.ends_with(',') || line.ends_with(':'))) return true;
  if (line.starts_with("note:") || line.starts_with("warning:")) return true;
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) { return holds(line, mark); });
}

}  // namespace

bool states_error(std::string_view line) {
  static constexpr std::array<std::string_view, 4> of_linkers = {"undefined reference", "undefined symbol",
                                                                 "multiple definition", "cannot find -l"};
  for (const std::string_view word : {"error", "Error", "ERROR", "fatal"}) {
    if (holds_word(line, word)) return true;
  }
  return std::any_of(of_linkers.begin(), of_linkers.end(),
                     [&](std::string_view text) { return holds(line, text); });
}

std::string useful_line(std::string_view output) {
  std::string_view error;
  std::string_view plain;
  std::string_view first;
  std::string_view last;
  bool traceback = false;
  while (!output.empty()) {
    const auto end = std::min(output.find('\n'), output.size());
    const std::string_view line = trimmed(output.substr(0, end));
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.empty()) continue;
    traceback = traceback || line.starts_with("Traceback (most recent call last)");
    last = line;
    if (first.empty()) first = line;
    if (is_introduction(line)) continue;
    if (plain.empty()) plain = line;
    if (error.empty() && states_error(line)) error = line;
  }
  if (traceback) return std::string(last);
  return std::string(!error.empty() ? error : !plain.empty() ? plain : first);
}

}  // namespace kevo
