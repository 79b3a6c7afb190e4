#pragma once
// A selector that applies another selector to one island of an archive at a time. The islands take turns, as
// in OpenEvolve, or are chosen by their rewards, as in AdaEvolve.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <kevo/archive/islands.hpp>
#include <kevo/detail/latest_scores.hpp>
#include <kevo/select.hpp>

namespace kevo {

/// How the next island is chosen: each in turn, or the one with the greatest upper confidence bound.
enum class island_turns : std::uint8_t { round_robin, ucb };

/// The names of the ways, in the order of `island_turns`.
inline constexpr std::array<std::string_view, 2> island_turns_names = {"round_robin", "ucb"};
/// The name of a way, as configs write it.
inline constexpr std::string_view to_string(island_turns turns) {
  return island_turns_names[static_cast<std::size_t>(turns)];
}

/// Applies a selector to an archive of type `islands`. The selector sees the elites of one island as the
/// archive. Children join the island of their first parent, so the islands stay separate. Each island has its
/// own copy of `inner`, which observes only the candidates of that island: those that were born there and
/// those that moved there, from then on. With any other archive, `inner` is used unchanged. A pick costs
/// O(islands) more than a pick of `inner`.
///
/// Only what a selector draws from the archive is limited to the elites of the island. `greedy`, `from:
/// population` and contrastive inspirations use the whole population. `uct` and `priority_queue` use all
/// candidates that their copy has observed, whether these are elites or not.
///
/// With `ucb` (AdaEvolve) the next island is one with fewer than three turns, at random; if there is none,
/// the one with the greatest
///
///     R / V + exploration * sqrt(ln(turns of all islands + 1) / turns of this island),  exploration = 1.41
///
/// R is the sum of the rewards of the results on the island, and V is the number of these results. Every new
/// result of the island first multiplies both by `decay`. The reward of a result is its improvement on the
/// best score of its island, divided by the magnitude of the best score of the run before it, so that gains
/// on poor islands are not overrated, and at most 1; it is 0 if there is no improvement. A turn counts from
/// the moment it is taken, but R and V change only when its result is observed.
class on_islands {
 public:
  any_selector inner;  ///< the selector that every island gets a copy of; set before the first pick
  island_turns turns = island_turns::round_robin;  ///< how the next island is chosen
  double exploration = 1.41;                       ///< with `ucb`: weight of the second term of the bound
  double decay = 0.9;  ///< with `ucb`: factor by which each new result reduces R and V

  selection select(const population_view& view, rng& random) {
    const auto* world = world_of(view);
    if (world == nullptr || world->size() == 0) return policy(0).select(view, random);
    const std::size_t here = next(*world, random);
    ++island(here).turns;
    return policy(here).select(view.with(world->island(here)), random);
  }
  void observe(const observation& seen, const population_view& view) {
    const auto* world = world_of(view);
    const std::size_t here = world == nullptr ? 0 : home_of(*world, seen);
    policy(here).observe(seen, view);
    reward(here, seen);
  }
  /// Always true with several islands: an island does not wait for the results of another.
  bool ready(const pending_work& pending) const {
    return islands_.size() != 1 || islands_.front().policy.ready(pending);
  }

 private:
  struct island_state {
    any_selector policy;
    detail::latest_scores scores;
    double rewards = 0;  // decayed
    double results = 0;  // decayed
    double turns = 0;
  };

  static constexpr double first_turns = 3;  // of each island before the bound decides

  static const islands* world_of(const population_view& view) {
    return view.archive() ? view.archive().as<islands>() : nullptr;
  }
  /// A candidate that failed was not offered to the archive; it belongs to the island of its first parent.
  static std::size_t home_of(const islands& world, const observation& seen) {
    if (const auto home = world.home_of(seen.candidate)) return *home;
    if (seen.parents.empty()) return 0;
    return world.home_of(seen.parents.front()).value_or(0);
  }

  island_state& island(std::size_t i) {
    while (islands_.size() <= i) islands_.emplace_back().policy = inner;
    return islands_[i];
  }
  any_selector& policy(std::size_t i) { return island(i).policy; }

  std::size_t next(const islands& world, rng& random) {
    if (turns == island_turns::round_robin) {
      std::size_t here = turn_++ % world.count();
      while (world.island(here).size() == 0) here = turn_++ % world.count();
      return here;
    }
    double all = 0;
    std::vector<std::size_t> few;
    for (std::size_t i = 0; i < world.count(); ++i) {
      all += island(i).turns;
      if (island(i).turns < first_turns && world.island(i).size() > 0) few.push_back(i);
    }
    if (!few.empty()) return few[random.below(few.size())];
    std::size_t best = 0;
    double greatest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < world.count(); ++i) {
      if (world.island(i).size() == 0) continue;
      const double value = bound(island(i), all);
      if (value > greatest) best = i, greatest = value;
    }
    return best;
  }
  double bound(const island_state& of, double all) const {
    const double mean = of.results > 0 ? of.rewards / of.results : 0;
    return mean + exploration * std::sqrt(std::log(all + 1) / of.turns);
  }
  void reward(std::size_t here, const observation& seen) {
    island_state& mine = island(here);
    const std::optional<double> score = seen.ranked() ? std::optional(seen.score) : std::nullopt;
    double gain = 0;
    if (score && !mine.scores.empty() && *score > mine.scores.greatest())
      gain = *score - mine.scores.greatest();
    const double scale = all_.empty() ? 0 : std::abs(all_.greatest());
    mine.scores.set(seen.candidate, score);
    all_.set(seen.candidate, score);
    const double reward = gain < scale ? gain / scale : 1;
    mine.rewards = decay * mine.rewards + (gain > 0 ? reward : 0);
    mine.results = decay * mine.results + 1;
  }

  std::vector<island_state> islands_;
  detail::latest_scores all_;
  std::size_t turn_ = 0;
};

}  // namespace kevo
