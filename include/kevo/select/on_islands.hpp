#pragma once
// A selector that lets any other selector take turns on the islands of an archive, as OpenEvolve does.

#include <cstddef>
#include <vector>

#include <kevo/archive/islands.hpp>
#include <kevo/select.hpp>

namespace kevo {

/// Any selector on an archive of islands: islands take turns (OpenEvolve), and the selector sees one island's
/// elites as the archive, so that children, who live with their parents, keep the islands apart. Each island
/// has a selector of its own, all observe everything. What a selector draws from the population (greedy's
/// best, uct's tree, `from: population`) is not the island's. With another archive it is the selector alone.
/// O(islands) more a pick.
class on_islands {
 public:
  any_selector inner;  ///< set before the first pick

  selection select(const population_view& view, rng& random) {
    const auto* world = view.archive() ? view.archive().as<islands>() : nullptr;
    if (world == nullptr || world->size() == 0) return policy(0).select(view, random);
    std::size_t here = turn_++ % world->count();
    while (world->island(here).size() == 0) here = turn_++ % world->count();
    return policy(here).select(view.with(world->island(here)), random);
  }
  void observe(const observation& seen) {
    inner.observe(seen);  // what islands that are spawned later begin with
    for (any_selector& one : policies_) one.observe(seen);
  }

 private:
  any_selector& policy(std::size_t island) {
    while (policies_.size() <= island) policies_.push_back(inner);
    return policies_[island];
  }

  std::vector<any_selector> policies_;
  std::size_t turn_ = 0;
};

}  // namespace kevo
