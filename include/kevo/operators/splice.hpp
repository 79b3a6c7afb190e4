#pragma once
// The operator `splice`: it replaces regions of a candidate by those of another one. It needs no language
// model. Compiled: link kevo::kevo.

#include <cstddef>
#include <string>

#include <kevo/vary.hpp>

namespace kevo {

/// Replaces one or several `// kevo: begin NAME` regions of the parent by those of the same name in another
/// selected candidate (a further parent or an inspiration). Proposes only programs that the run does not
/// contain yet and whose annotations are consistent: if the new combination violates a `require`, its
/// tunables move to the nearest valid setting.
struct splice {
  double another_region = 0.3;  ///< probability of each further region
  /// Maximum number of combinations that are tried; known and inconsistent ones are not proposed.
  std::size_t tries = 24;

  std::string name() const { return "splice"; }
  bool repairs() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
};

}  // namespace kevo
