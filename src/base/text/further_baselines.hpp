#pragma once
// The speedups over further baselines, in words.

#include <string>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>

namespace kevo {

/// {"openblas", "0.935x [0.921 - 0.948]"}, by name; "0.935x (no interval)" where none was recorded, so that
/// the figure does not look certain. Names are foreign text.
std::vector<std::pair<std::string, std::string>> further_speedups(const evaluation& e, bool unicode);

}  // namespace kevo
