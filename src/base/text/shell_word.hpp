#pragma once
// Words in the commands of a POSIX shell.

#include <string>
#include <string_view>

namespace kevo {

/// The word in single quotes, so that a shell takes it as it is.
inline std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + '\'';
}

}  // namespace kevo
