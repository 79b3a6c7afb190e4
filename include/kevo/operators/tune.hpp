#pragma once
// Variation without a model: another setting of the tunables that a candidate's `// kevo:` lines declare.
// Compiled: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/vary.hpp>

namespace kevo {

class setting_space;

/// Proposes a setting that fulfils every `require` and that the run has not seen: one or several steps from
/// the parent's (to a neighbour in the domain's order, or anywhere), or a cross of the parent's and another
/// selected candidate's. Children that break a condition are repaired by walking to the nearest valid
/// setting. Where all this finds only settings that were seen, spaces of up to `enumerate` valid settings are
/// walked until an unseen one turns up; if there is none, the answer is that the operator is exhausted on
/// this source.
struct tune {
  double crossover = 0.3;         ///< probability of a cross where another candidate has the same tunables
  double neighbour = 0.7;         ///< probability that a step goes to a neighbouring value
  double another_step = 0.35;     ///< probability of each further step
  std::size_t tries = 24;         ///< proposals that may turn out to be seen before the space is walked
  std::size_t enumerate = 50000;  ///< [settings] the largest space that is walked

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

  indexes mutated(const setting_space& space, indexes setting, double more, rng& random) const;

  std::map<content_id, walk> walks_;
};

}  // namespace kevo
