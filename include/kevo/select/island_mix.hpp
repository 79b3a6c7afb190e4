#pragma once
// A selector with islands of its own and a mix of exploring and exploiting on each: OpenEvolve, Kernel-Smith.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <kevo/detail/ranking.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// OpenEvolve's selection, on which Kernel-Smith builds, with its published defaults: `islands` take turns;
/// the parent is, with probability `exploration`, any member of the island, with `exploitation` one of its
/// `elites`, else drawn in proportion to the score. Children stay on the island that asked for them. Every
/// `interval` new members an island sends the best `share` of those that were born on it to both neighbours
/// on the ring; it is the candidate that joins them, not a copy, so nothing is ever there twice. An island
/// keeps the best `capacity` members (OpenEvolve: 1000 programs, 100 elites, on 5 islands). An empty island
/// starts from the best of all. Independent of the archive, which only gives the inspirations. O(log
/// capacity) a pick, O(capacity / interval) more per new member.
class island_mix {
 public:
  std::size_t islands = 5;  ///< 1 .. 32; set before the first pick, as capacity
  double exploration = 0.2;
  double exploitation = 0.7;
  std::size_t elites = 20;
  std::size_t capacity = 200;
  std::size_t interval = 50;
  double share = 0.1;
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) {
    states_.resize(islands);
    const std::size_t here = turn_++ % islands;
    const detail::ranking& members = states_[here].members;
    candidate_id parent = view.nth_best(0);
    if (const std::size_t n = members.size(); n > 0) {
      const double mood = random.uniform();
      if (mood < exploration) {
        parent = members.nth(random.below(n));
      } else if (mood < exploration + exploitation) {
        parent = members.nth(random.below(std::min(n, std::max<std::size_t>(elites, 1))));
      } else {
        parent = members.at_mass(random.uniform() * members.total());
      }
    }
    remember(parent, here);
    return vary_one(parent, inspirations, scope, view, random);
  }

  void observe(const observation& seen) {
    states_.resize(islands);
    const bool valid = seen.ranked();
    member& mine = at(seen.candidate);
    const std::uint32_t present = mine.present;
    leave(seen.candidate);
    if (!mine.born) {
      mine.born = true;
      mine.home = seen.parents.empty() ? seeds_++ % islands : recall(seen.parents.front());
      if (!valid) return;
      mine.score = seen.score;
      enter(seen.candidate, mine.home);
      if (++states_[mine.home].newcomers >= interval) migrate(mine.home);
    } else if (valid) {  // measured again: back to where it was
      mine.score = seen.score;
      for (std::size_t i = 0; i < islands; ++i) {
        if ((present >> i & 1U) != 0) enter(seen.candidate, i);
      }
    }
  }

  /// The members of an island, best first.
  const detail::ranking& members(std::size_t island) const { return states_[island].members; }

 private:
  struct island_state {
    detail::ranking members;
    std::size_t newcomers = 0;
  };
  struct member {
    double score = 0;
    std::uint32_t present = 0;           // one bit an island
    std::vector<std::uint8_t> asked_by;  // islands whose child of this parent has not come yet, oldest first
    std::size_t home = 0;
    bool born = false;
    bool travelled = false;
  };

  member& at(candidate_id id) {
    if (id >= all_.size()) all_.resize(id + std::size_t{1});
    return all_[id];
  }
  /// Variations may fail, so a note may stay behind: it is used for the next child, and few are kept.
  void remember(candidate_id parent, std::size_t island) {
    auto& notes = at(parent).asked_by;
    if (notes.size() >= 8) notes.erase(notes.begin());
    notes.push_back(static_cast<std::uint8_t>(island));
  }
  std::size_t recall(candidate_id parent) {
    auto& notes = at(parent).asked_by;
    if (notes.empty()) return at(parent).home;
    const std::size_t island = notes.front();
    notes.erase(notes.begin());
    return island;
  }

  void enter(candidate_id id, std::size_t island) {
    member& mine = at(id);
    if ((mine.present >> island & 1U) != 0) return;
    detail::ranking& here = states_[island].members;
    here.insert(id, mine.score);
    mine.present |= 1U << island;
    if (here.size() > capacity) {
      const candidate_id worst = here.nth(here.size() - 1);
      here.erase(worst, all_[worst].score);
      all_[worst].present &= ~(1U << island);
    }
  }
  void leave(candidate_id id) {
    member& mine = at(id);
    for (std::size_t i = 0; i < islands; ++i) {
      if ((mine.present >> i & 1U) != 0) states_[i].members.erase(id, mine.score);
    }
    mine.present = 0;
  }

  void migrate(std::size_t island) {
    island_state& from = states_[island];
    from.newcomers = 0;
    if (islands < 2) return;
    auto left = static_cast<std::size_t>(std::ceil(share * static_cast<double>(from.members.size())));
    std::vector<candidate_id> travellers;
    for (std::size_t rank = 0; rank < from.members.size() && left > 0; ++rank, --left) {
      const candidate_id id = from.members.nth(rank);
      if (all_[id].home == island && !all_[id].travelled) travellers.push_back(id);
    }
    for (const candidate_id id : travellers) {
      all_[id].travelled = true;
      enter(id, (island + 1) % islands);
      enter(id, (island + islands - 1) % islands);
    }
  }

  std::vector<island_state> states_;
  std::vector<member> all_;  // by candidate
  std::size_t turn_ = 0;
  std::size_t seeds_ = 0;
};

}  // namespace kevo
