#pragma once
// A selector that keeps its own islands and mixes exploration and exploitation on each of them: OpenEvolve,
// Kernel-Smith.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <kevo/detail/ranking.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// OpenEvolve's selection, on which Kernel-Smith builds, with its published defaults. The islands take turns.
/// The parent is, with probability `exploration`, any member of the island, with probability `exploitation`
/// one of its `elites` best members, both drawn uniformly; otherwise a member drawn with probability
/// proportional to its score. If the island has no members, the parent is the best candidate of the
/// population. Children become members of the island that selected their parent; seeds are assigned to the
/// islands in turn. An island keeps its best `capacity` members (OpenEvolve: 1000 programs and 100 elites on
/// 5 islands).
///
/// Migration: after every `interval` valid candidates born on an island, its best members join both
/// neighbouring islands on the ring. These are the members among the best `share` that were born on this
/// island and have not migrated before. They remain members of their own island. The candidates themselves
/// join, not copies, so no island holds a program twice.
///
/// The inspirations `top` and `diverse` are members of the island, so that islands exchange candidates only
/// by migration. `neighbours` are elites of the archive, and `contrastive` are drawn from the whole
/// population. A pick costs O(log capacity). A new member costs O(log capacity), plus O(share * capacity *
/// log(capacity) / interval) on average for migration.
class island_mix {
 public:
  std::size_t islands = 5;     ///< number of islands, 1 .. 32; set it and `capacity` before the first pick
  double exploration = 0.2;    ///< probability of any member of the island
  double exploitation = 0.7;   ///< probability of one of its best members
  std::size_t elites = 20;     ///< number of best members that exploitation draws from
  std::size_t capacity = 200;  ///< maximum number of members of an island
  std::size_t interval = 50;   ///< number of valid candidates born on an island between two of its migrations
  double share = 0.1;          ///< fraction of the members, the best ones, considered in a migration
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) {
    states_.resize(islands);
    const std::size_t here = turn_++ % islands;
    const detail::ranking& members = states_[here].members;
    candidate_id parent = view.nth_best(0);
    if (const std::size_t n = members.size(); n > 0) {
      const double draw = random.uniform();
      if (draw < exploration) {
        parent = members.nth(random.below(n));
      } else if (draw < exploration + exploitation) {
        parent = members.nth(random.below(std::min(n, std::max<std::size_t>(elites, 1))));
      } else {
        parent = members.at_mass(random.uniform() * members.total());
      }
    }
    remember(parent, here);
    selection chosen;
    chosen.parents = {parent};
    chosen.scope = scope;
    inspirations.add_to(chosen, view, island_pool{&members}, random);
    return chosen;
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
      if (++states_[mine.home].since_migration >= interval) migrate(mine.home);
    } else if (valid) {  // measured again: put back on the islands where it was
      mine.score = seen.score;
      for (std::size_t i = 0; i < islands; ++i) {
        if ((present >> i & 1U) != 0) enter(seen.candidate, i);
      }
    }
  }

  /// The members of an island, best first. Valid after the first call of `select` or `observe`.
  const detail::ranking& members(std::size_t island) const { return states_[island].members; }

 private:
  /// The members of an island as a pool for inspirations.
  struct island_pool {
    const detail::ranking* members = nullptr;

    std::size_t size() const { return members->size(); }
    candidate_id nth_best(std::size_t rank) const { return members->nth(rank); }
    candidate_id uniform(rng& random) const { return members->nth(random.below(members->size())); }
  };
  struct island_state {
    detail::ranking members;
    std::size_t since_migration = 0;
  };
  struct member {
    double score = 0;
    std::uint32_t present = 0;           // bit i: whether it is a member of island i
    std::vector<std::uint8_t> asked_by;  // islands that wait for a child of this parent, oldest first
    std::size_t home = 0;                // the island it was born on
    bool born = false;                   // whether its first result was observed
    bool migrated = false;
  };

  member& at(candidate_id id) {
    if (id >= all_.size()) all_.resize(id + std::size_t{1});
    return all_[id];
  }
  /// Notes that an island selected a parent. A turn may yield no child; its note then assigns the next
  /// child of this parent. At most 8 notes are kept for each parent.
  void remember(candidate_id parent, std::size_t island) {
    auto& notes = at(parent).asked_by;
    if (notes.size() >= 8) notes.erase(notes.begin());
    notes.push_back(static_cast<std::uint8_t>(island));
  }
  /// Removes the oldest note of a parent and returns its island; the home of the parent if there is no note.
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
    from.since_migration = 0;
    if (islands < 2) return;
    auto left = static_cast<std::size_t>(std::ceil(share * static_cast<double>(from.members.size())));
    std::vector<candidate_id> migrants;
    for (std::size_t rank = 0; rank < from.members.size() && left > 0; ++rank, --left) {
      const candidate_id id = from.members.nth(rank);
      if (all_[id].home == island && !all_[id].migrated) migrants.push_back(id);
    }
    for (const candidate_id id : migrants) {
      all_[id].migrated = true;
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
