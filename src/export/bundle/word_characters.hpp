#pragma once
// The characters of names and numbers in expressions.

#include <cctype>

namespace kevo::bundle {

/// Whether a name may begin with `c`.
inline bool begins_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
/// Whether a name or a number may contain `c`.
inline bool in_word(char c) {
  return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
}

}  // namespace kevo::bundle
