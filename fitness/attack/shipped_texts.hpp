#pragma once
// The files of configs/attacks, which the build puts into the library (cmake/attacks.cmake), so that a
// program that was copied elsewhere has them.

#include <string_view>
#include <vector>

namespace kevo {

struct shipped_text {
  std::string_view path;  ///< below configs/attacks: "cpp/zeros.cpp"
  std::string_view text;
};

const std::vector<shipped_text>& shipped_attack_texts();

}  // namespace kevo
