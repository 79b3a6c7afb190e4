#pragma once
// Whether a text contains another one.

#include <string_view>

inline bool has(const std::string_view text, const std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
