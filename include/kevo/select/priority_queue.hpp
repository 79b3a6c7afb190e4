#pragma once
// A selector that measures the most promising candidates again before it varies them: POLCA's priority search
// (arXiv 2603.14769).

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

/// What a priority queue orders candidates by: the mean of their scores, or its upper or lower confidence
/// bound.
enum class priority_order : std::uint8_t { mean, ucb, lcb };

inline constexpr std::array<std::string_view, 3> priority_order_names = {"mean", "ucb", "lcb"};
inline constexpr std::string_view to_string(priority_order order) {
  return priority_order_names[static_cast<std::size_t>(order)];
}

/// POLCA's priority search (arXiv 2603.14769, and its code's defaults): rounds of the best `candidates` of
/// the queue; each is measured `measurements` times more, so that luck does not stay on top, and then varied
/// `proposals` times. The newest wins ties.
///
///     priority = clip(mean +- exploration * sqrt(ln(t + 2) / n) * (max - min), min, max)
///
/// for n scores of the candidate after t evaluations in all; max and min are those of all scores so far. As
/// in POLCA, a priority is computed when its candidate is measured. On a deterministic task set
/// `measurements` to 0: half the budget goes into them. Scores that the search averages over re-evaluations
/// are the means. O(log n) a pick and an observation.
class priority_queue {
 public:
  std::size_t candidates = 10;
  std::size_t measurements = 1;
  std::size_t proposals = 1;
  priority_order order = priority_order::mean;
  double exploration = 1.0;
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) {
    while (!round_.empty() && !view.row(round_.back().id).ranked()) round_.pop_back();  // failed since
    if (round_.empty()) begin_round(view);
    step& now = round_.back();
    const candidate_id parent = now.id;
    if (now.measurements > 0) {
      --now.measurements;
      selection again;
      again.parents = {parent};
      again.reevaluate = true;
      return again;
    }
    if (now.proposals <= 1) {
      round_.pop_back();
    } else {
      --now.proposals;
    }
    return vary_one(parent, inspirations, scope, view, random);
  }

  void observe(const observation& seen) {
    ++evaluations_;
    const candidate_id id = seen.candidate;
    if (id >= known_.size()) known_.resize(id + std::size_t{1});
    entry& mine = known_[id];
    if (mine.queued) queue_.erase(newest_first(id), mine.priority);
    mine.queued = seen.ranked();
    if (!mine.queued) return;
    ++mine.scores;
    least_ = std::min(least_, seen.score);
    greatest_ = std::max(greatest_, seen.score);
    mine.priority = priority(seen.score, mine.scores);
    queue_.insert(newest_first(id), mine.priority);
  }

 private:
  struct entry {
    double priority = 0;
    std::uint32_t scores = 0;
    bool queued = false;
  };
  struct step {
    candidate_id id = no_candidate;
    std::size_t measurements = 0;
    std::size_t proposals = 0;
  };

  static candidate_id newest_first(candidate_id id) { return ~id; }  // a ranking puts small ids first

  double priority(double mean, std::uint32_t n) const {
    if (order == priority_order::mean) return mean;
    const double bonus = exploration * std::sqrt(std::log(evaluations_ + 2) / n) * (greatest_ - least_);
    return std::clamp(order == priority_order::ucb ? mean + bonus : mean - bonus, least_, greatest_);
  }

  void begin_round(const population_view& view) {
    for (std::size_t rank = std::min(candidates, queue_.size()); rank-- > 0;) {  // the best is taken first
      round_.push_back({newest_first(queue_.nth(rank)), measurements, std::max<std::size_t>(proposals, 1)});
    }
    if (round_.empty()) round_.push_back({view.nth_best(0), 0, 1});  // nothing was observed yet
  }

  detail::ranking queue_;
  std::vector<entry> known_;  // by candidate
  std::vector<step> round_;   // what is left of it, next last
  double evaluations_ = 0;
  double least_ = INFINITY;  // of all scores
  double greatest_ = -INFINITY;
};

}  // namespace kevo
