#pragma once
// Text of others in the comments of written C++.

#include <algorithm>
#include <string>

namespace kevo::bundle {

/// A text without ends of lines, and without the backslashes that would continue a line, to stand behind
/// "//".
inline std::string in_comment(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\\', '/');
  return text;
}

}  // namespace kevo::bundle
