#pragma once
// The operator `tune`: it changes the values of the tunables that a source declares in `// kevo:` lines. It
// needs no language model. Compiled: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/vary.hpp>

namespace kevo {

class setting_space;

/// Proposes a setting (one value for each tunable) that satisfies every `require` and that the run does not
/// contain yet.
///   - While the run has fewer than `draws` candidates, a valid setting is drawn at random, with equal
///   probabilities if
///     the space is small enough to be enumerated. A search that only takes steps from the seed may stay near
///     a local optimum.
///   - Later, one or several tunables of the parent change, to a neighbouring value in the domain or to any
///   value; or the
///     values come from the parent and another selected candidate (crossover).
///   - A setting that violates a condition is replaced by the nearest valid one.
///   - If only known settings were found, spaces of up to `enumerate` valid settings are searched for an
///   unknown one. If
///     there is none, the operator is exhausted on this source.
struct tune {
  std::size_t draws = 10;  ///< number of candidates, seeds included, up to which settings are drawn at random
  double crossover = 0.3;  ///< probability of crossover, if another selected candidate has the same tunables
  double neighbour = 0.7;  ///< probability that a step goes to a neighbouring value
  double another_step = 0.35;     ///< probability of each further step
  std::size_t tries = 24;         ///< number of known settings that may be found before the space is searched
  std::size_t enumerate = 50000;  ///< maximum number of valid settings of a space that is enumerated

  std::string name() const { return "tune"; }
  bool repairs() const { return false; }
  variation_result vary(const variation_request& request, rng& random);

 private:
  /// A value for every tunable: indexes into their domains, in file order.
  using indexes = std::vector<std::uint32_t>;
  /// What is remembered of one source without its settings; it never changes an answer, only saves work.
  struct walk {
    std::vector<indexes> settings;  ///< all valid ones
    std::vector<bool> seen;         ///< known to have been seen; the rest is not known
    bool small = false;             ///< whether there are few enough to walk
  };
  walk& walk_of(const program& source, const setting_space& space);
  /// A setting of the walk that `offer` takes, beginning at any of them; what it does not take is marked as
  /// seen.
  template <class Offer>
  static variation_result walked(walk& all, const indexes& own, const variation_request& request, Offer offer,
                                 rng& random);

  indexes mutated(const setting_space& space, indexes setting, double more, rng& random) const;

  std::map<content_id, walk> walks_;
};

}  // namespace kevo
