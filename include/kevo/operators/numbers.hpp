#pragma once
// The operator `numbers`: it changes number literals in a source. It needs no language model and no
// annotations. Compiled: link kevo::kevo.

#include <cstddef>
#include <string>

#include <kevo/vary.hpp>

namespace kevo {

/// Changes one or several number literals of the parent's main file: within its EVOLVE-BLOCKs, or anywhere if
/// it has none. Whole numbers stay whole, and no sign changes. Literals in comments and texts, hexadecimal
/// ones and tunables (which `tune` changes) stay as they are. A step multiplies a number by exp(s x), where x
/// is normal and s is `small` or `large` with equal probability; a whole number may also grow or shrink by 1.
/// O(length of the source).
struct numbers {
  double small = 0.1;    ///< standard deviation of the logarithm of a small step
  double large = 0.7;    ///< standard deviation of the logarithm of a large step
  double another = 0.3;  ///< probability of changing one more number, applied again after each
  /// Number of changes that are tried until one gives a program that the run does not contain yet.
  std::size_t tries = 24;

  std::string name() const { return "numbers"; }
  bool repairs() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
};

}  // namespace kevo
