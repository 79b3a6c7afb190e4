#pragma once
// Variation without a model: regions of one candidate in the place of another's. Compiled: link kevo::kevo.

#include <cstddef>
#include <string>

#include <kevo/vary.hpp>

namespace kevo {

/// Replaces one or several `// kevo: begin NAME` regions of the parent by those of the same name in another
/// selected candidate (a further parent or an inspiration). Offers only programs that the run has not seen
/// and whose annotations hold together: a `require` that the new mixture breaks is mended by moving to the
/// nearest valid setting.
struct splice {
  double another_region = 0.3;  ///< probability of each further region
  std::size_t tries = 24;       ///< mixtures that may turn out to be seen or broken

  std::string name() const { return "splice"; }
  bool repairs() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
};

}  // namespace kevo
