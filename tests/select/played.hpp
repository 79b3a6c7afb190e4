#pragma once
// A search that is played for a selector: candidates are added and measured, and it is told.

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include <kevo/select.hpp>

#include "tests/select/world.hpp"

namespace kevo::test {

/// Tells a selector of an evaluation, whichever form of `observe` it has.
template <class Selector>
void tell(const world& w, Selector& policy, const observation& seen) {
  if constexpr (requires { policy.observe(seen, w.view()); }) {
    policy.observe(seen, w.view());
  } else if constexpr (requires { policy.observe(seen); }) {
    policy.observe(seen);
  }
}

/// Adds a candidate and tells the selector, as a search does.
template <class Selector>
candidate_id grow(world& w, Selector& policy, double score, std::vector<candidate_id> parents = {}) {
  const auto before = w.kept ? w.kept.size() : 0;
  const candidate_id id = w.add(score, parents);
  observation seen;
  seen.candidate = id;
  seen.parents = parents;
  seen.outcome = w.all.row(id).outcome;
  seen.score = w.all.row(id).score;
  seen.measured = seen.score;
  if (w.kept && w.kept.size() > before) seen.archived = {archive_status::new_cell, score};
  tell(w, policy, seen);
  return id;
}

/// Measures a candidate again, with this blended score (0: it failed). `measured`: the score of this
/// evaluation alone, if it is another; `confirmed`: it was a confirmation.
template <class Selector>
void measure_again(world& w, Selector& policy, candidate_id id, double score,
                   std::optional<double> measured = {}, bool confirmed = false) {
  w.all.evaluate(id, score > 0 ? outcome::valid : outcome::incorrect, score);
  observation seen;
  seen.candidate = id;
  seen.parents = w.parents_of[id];
  seen.outcome = w.all.row(id).outcome;
  seen.score = w.all.row(id).score;
  seen.measured = measured.value_or(seen.score);
  seen.confirmed = confirmed;
  tell(w, policy, seen);
}

/// A search of `n` candidates in which every child is a little better or worse than its parent, or fails.
template <class Selector>
void search(world& w, Selector& policy, std::size_t n, rng& random) {
  if (w.all.size() == 0) grow(w, policy, 1.0);
  while (w.all.size() < n) {
    const auto chosen = policy.select(w.view(), random);
    const double parent = w.all.row(chosen.parents.front()).score;
    if (chosen.reevaluate) {
      measure_again(w, policy, chosen.parents.front(), parent * random.uniform(0.99, 1.01));
    } else {
      const double base = parent > 0 ? parent : 1.0;
      grow(w, policy, random.chance(0.2) ? 0.0 : base * std::exp(0.1 * random.normal()), chosen.parents);
    }
  }
}

}  // namespace kevo::test
