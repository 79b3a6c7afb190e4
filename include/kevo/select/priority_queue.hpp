#pragma once
// A selector that measures the most promising candidates again before it varies them: the priority search of
// POLCA (arXiv 2603.14769).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <kevo/detail/ranking.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// What the queue orders candidates by: the mean of their scores, or its upper or lower confidence bound.
enum class priority_order : std::uint8_t { mean, ucb, lcb };

/// The names of the orders, in the order of `priority_order`.
inline constexpr std::array<std::string_view, 3> priority_order_names = {"mean", "ucb", "lcb"};
/// The name of an order, as configs write it.
inline constexpr std::string_view to_string(priority_order order) {
  return priority_order_names[static_cast<std::size_t>(order)];
}

/// POLCA's priority search (arXiv 2603.14769) with the defaults of its code. The search proceeds in rounds of
/// `candidates` members: the candidate with the best mean score (if `best` is set) and the first ones of the
/// queue. Every member is measured `measurements` more times, so that a candidate does not stay on top
/// because of one measurement that was too good by chance. When all these results have arrived, every member
/// is varied `proposals` times. When all children are evaluated, the next round begins. The first round
/// repeats the few candidates that exist until it has `candidates` members, as POLCA's code does with copies
/// of its base program. Of equal priorities the newest candidate comes first.
///
///     priority = clip(mean +- exploration * sqrt(ln(t + 2) / n) * (max - min), min, max)
///
/// n is the number of scores of the candidate, t the number of finished rounds, and min and max are the
/// extremes of all scores so far. The sign is + for `ucb` and - for `lcb`; with `mean` the priority is the
/// mean. As in POLCA, a priority is computed when its candidate is measured and not changed in between. A
/// failure counts as a score of 0 (as the least score if that is negative) in the mean, so one failure does
/// not remove a candidate. Unlike in POLCA, a candidate that has never been valid is varied, by operators
/// that repair, but not measured again. On a deterministic task set `measurements` to 0, because repeated
/// measurements take half of the budget otherwise. A pick and an observation cost O(log n).
class priority_queue {
 public:
  std::size_t candidates = 10;   ///< number of members of a round
  std::size_t measurements = 1;  ///< further evaluations of each valid member in a round
  std::size_t proposals = 1;     ///< turns in which each member is varied in a round; 0 counts as 1
  priority_order order = priority_order::mean;  ///< what candidates are ordered by
  double exploration = 1.0;                     ///< factor of the width of the confidence bounds
  bool best = true;                 ///< whether the candidate with the best mean is in every round
  kevo::inspirations inspirations;  ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) {
    if (to_measure_.empty() && to_vary_.empty()) begin_round(view);
    if (!to_measure_.empty()) {
      selection again;
      again.parents = {to_measure_.back()};
      again.reevaluate = true;
      to_measure_.pop_back();
      return again;
    }
    const candidate_id parent = to_vary_.back();
    to_vary_.pop_back();
    return vary_one(parent, inspirations, scope, view, random);
  }

  /// False while the selector waits for the measurements or the children of a round.
  bool ready(const pending_work& pending) const {
    if (!to_measure_.empty()) return true;
    return to_vary_.empty() ? pending.none() : pending.measurements == 0;
  }

  void observe(const observation& seen) {
    const candidate_id id = seen.candidate;
    if (id >= known_.size()) known_.resize(id + std::size_t{1});
    entry& mine = known_[id];
    if (mine.scores > 0) {
      queue_.erase(newest_first(id), mine.priority);
      means_.erase(newest_first(id), mine.mean());
    }
    const double score = seen.ranked() ? seen.measured : std::min(0.0, least_);
    mine.was_valid = mine.was_valid || seen.ranked();
    mine.sum += score;
    ++mine.scores;
    least_ = std::min(least_, score);
    greatest_ = std::max(greatest_, score);
    mine.priority = priority(mine);
    queue_.insert(newest_first(id), mine.priority);
    means_.insert(newest_first(id), mine.mean());
  }

 private:
  struct entry {
    double priority = 0;
    double sum = 0;
    std::uint32_t scores = 0;
    bool was_valid = false;

    double mean() const { return sum / scores; }
  };

  static candidate_id newest_first(candidate_id id) { return ~id; }  // a ranking puts small ids first

  double priority(const entry& of) const {
    if (order == priority_order::mean) return of.mean();
    const double bonus = exploration * std::sqrt(std::log(rounds_ + 2) / of.scores) * (greatest_ - least_);
    return std::clamp(order == priority_order::ucb ? of.mean() + bonus : of.mean() - bonus, least_,
                      greatest_);
  }

  void begin_round(const population_view& view) {
    std::vector<candidate_id> members;
    if (best && !means_.empty()) members.push_back(newest_first(means_.nth(0)));
    for (std::size_t rank = 0; rank < queue_.size() && members.size() < candidates; ++rank) {
      const candidate_id next = newest_first(queue_.nth(rank));
      if (members.empty() || next != members.front()) members.push_back(next);
    }
    if (members.empty()) members.push_back(view.nth_best(0));  // nothing was observed yet
    const std::size_t there = members.size();
    if (!begun_) {
      for (std::size_t i = 0; members.size() < candidates; ++i) members.push_back(members[i % there]);
    } else {
      ++rounds_;
    }
    begun_ = begun_ || !queue_.empty();
    for (std::size_t i = members.size(); i-- > 0;) {  // the last is taken first
      const candidate_id id = members[i];
      to_vary_.insert(to_vary_.end(), std::max<std::size_t>(proposals, 1), id);
      if (id < known_.size() && known_[id].was_valid) to_measure_.insert(to_measure_.end(), measurements, id);
    }
  }

  detail::ranking queue_;  // by priority
  detail::ranking means_;
  std::vector<entry> known_;              // by candidate
  std::vector<candidate_id> to_measure_;  // the rest of the round, taken from the end
  std::vector<candidate_id> to_vary_;
  bool begun_ = false;
  double rounds_ = 0;
  double least_ = INFINITY;  // of all scores
  double greatest_ = -INFINITY;
};

}  // namespace kevo
