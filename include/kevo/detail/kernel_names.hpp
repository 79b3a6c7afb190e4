#pragma once
// Which kernels the text of a program defines, and whether it names them elsewhere, without executing it.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace kevo::detail {

inline bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The name in front of `end`, blanks between them aside; empty if there is none.
inline std::string name_before(std::string_view text, std::size_t end) {
  const auto last = text.find_last_not_of(" \t\r\n", end == 0 ? std::string_view::npos : end - 1);
  if (end == 0 || last == std::string_view::npos || !is_of_name(text[last])) return {};
  auto begin = last;
  while (begin > 0 && is_of_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, last + 1 - begin));
}

/// The functions of C++ that are declared with `__global__`: the name in front of the first parenthesis that
/// does not belong to `__launch_bounds__` or to another attribute.
inline std::set<std::string> global_functions(std::string_view text) {
  std::set<std::string> names;
  constexpr std::string_view word = "__global__";
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    auto open = text.find('(', at);
    for (; open != std::string_view::npos; open = text.find('(', open + 1)) {
      auto name = name_before(text, open);
      if (!name.empty() && name != "__launch_bounds__" && name != "__attribute__") {
        names.insert(std::move(name));
        break;
      }
    }
  }
  return names;
}

/// Whether a line of Python, from its first character that is no blank, is a decorator that makes a kernel in
/// Triton.
inline bool decorates_triton_kernel(std::string_view line) {
  return line.starts_with("@triton.jit") || line.starts_with("@jit");
}

/// The functions of Python that are kernels in Triton.
inline std::set<std::string> triton_functions(const std::string& text) {
  std::set<std::string> names;
  std::istringstream lines(text);
  bool decorated = false;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    const auto words = std::string_view(line).substr(begin);
    if (decorates_triton_kernel(words)) {
      decorated = true;
    } else if (decorated && words.starts_with("def ")) {
      names.insert(name_before(words, std::min(words.find('('), words.size())));
      decorated = false;
    }
  }
  names.erase("");
  return names;
}

/// How often a text names something, other than as a member of something else (`torch.relu` does not name
/// `relu`) and in lines that are comments. `kevo:` lines, which launch kernels, are no comments here.
inline std::size_t times_named(const std::string& text, std::string_view name) {
  std::size_t times = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    const auto words = std::string_view(line).substr(begin);
    const auto said = words.substr(std::min(words.find_first_not_of("#/ \t"), words.size()));
    const bool comment = words.starts_with("//") || words.starts_with("# ");
    if (comment && !said.starts_with("kevo:")) continue;
    for (auto at = words.find(name); at != std::string_view::npos; at = words.find(name, at + 1)) {
      const auto end = at + name.size();
      const bool whole =
          (at == 0 || !is_of_name(words[at - 1])) && (end == words.size() || !is_of_name(words[end]));
      if (whole && (at == 0 || words[at - 1] != '.')) ++times;
    }
  }
  return times;
}

}  // namespace kevo::detail
