#pragma once
// The queue of candidates that wait for an evaluation.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/candidate.hpp>
#include <kevo/random.hpp>
#include <kevo/screen.hpp>

namespace kevo::detail {

/// The order is first in, first out. With a screening, proposals come after all other candidates, in the
/// order of the ranker, and `take` costs O(n log n) for n waiting candidates.
class evaluation_queue {
 public:
  struct entry {
    candidate_id candidate = no_candidate;
    std::vector<double> features{};  ///< only of proposals, and only with a screening; else empty
  };

  explicit evaluation_queue(std::optional<screening> screen = {}) : screen_(std::move(screen)) {}

  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }
  void push_back(entry e) { waiting_.push_back(std::move(e)); }

  const screening* screen() const { return screen_ ? &*screen_ : nullptr; }
  const screening_report& report() const { return report_; }
  /// Whether the screening needs more proposals to choose from: fewer than `pool` are waiting, and only
  /// proposals are.
  bool wants_more() const {
    return screen_ && waiting_.size() < screen_->pool &&
           std::none_of(waiting_.begin(), waiting_.end(), [](const entry& e) { return e.features.empty(); });
  }

  /// Removes and returns the next candidate. Appends to `dropped` the proposals that are discarded without an
  /// evaluation.
  entry take(rng random, std::vector<candidate_id>& dropped) {
    const auto plain =
        std::find_if(waiting_.begin(), waiting_.end(), [](const entry& e) { return e.features.empty(); });
    if (plain != waiting_.end()) return take_out(static_cast<std::size_t>(plain - waiting_.begin()));
    if (report_.learned < screen_->warmup) {
      entry oldest = take_out(0);
      out_[oldest.candidate] = {std::move(oldest.features), 0, chosen_by::age};
      return {oldest.candidate};
    }
    // Pairs (prediction, size - place): sorted, the worst first, and of equal ones the younger first.
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      order.emplace_back(screen_->ranker.predict(waiting_[i].features), waiting_.size() - i);
    }
    const auto predicted = order;
    std::sort(order.begin(), order.end());
    const bool explore = random.chance(screen_->epsilon);
    const std::size_t chosen =
        explore ? random.below(waiting_.size()) : waiting_.size() - order.back().second;
    std::vector<std::size_t> out = {chosen};
    for (std::size_t k = 0;
         waiting_.size() >= screen_->pool && k < order.size() && out.size() <= screen_->drop; ++k) {
      const std::size_t place = waiting_.size() - order[k].second;
      if (place == chosen) continue;
      dropped.push_back(waiting_[place].candidate);
      out.push_back(place);
      ++report_.dropped;
    }
    entry next{waiting_[chosen].candidate};
    out_[next.candidate] = {std::move(waiting_[chosen].features), predicted[chosen].first,
                            explore ? chosen_by::chance : chosen_by::ranker};
    while (!out.empty()) {  // the last place first, so that the other places stay valid
      const auto last = std::max_element(out.begin(), out.end());
      take_out(*last);
      out.erase(last);
    }
    return next;
  }

  /// Whether a candidate is waiting for which `wanted(id)` is true.
  template <class Wanted>
  bool holds(const Wanted& wanted) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const entry& e) { return wanted(e.candidate); });
  }
  /// Removes and returns the candidate that has waited longest of those for which `wanted(id)` is true. There
  /// must be one.
  template <class Wanted>
  candidate_id take_oldest(const Wanted& wanted) {
    const auto found =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const entry& e) { return wanted(e.candidate); });
    entry oldest = take_out(static_cast<std::size_t>(found - waiting_.begin()));
    if (!oldest.features.empty()) out_[oldest.candidate] = {std::move(oldest.features), 0, chosen_by::age};
    return oldest.candidate;
  }

  /// Takes the first result of a candidate that came from a screened queue; other results are ignored.
  /// `score` is empty if the candidate is not valid; then the ranker is told the least value so far, at most
  /// screening_features::worthless.
  void learn(candidate_id id, std::optional<double> score, const archive_result& archived) {
    const auto it = out_.find(id);
    if (it == out_.end()) return;
    const double value = score ? screening_features::target(*score) : least_;
    least_ = std::min(least_, value);
    screen_->ranker.learn(it->second.features, value);
    ++report_.learned;
    if (it->second.by != chosen_by::age) {
      const bool kept = archived.status != archive_status::rejected;
      const bool ranked = it->second.by == chosen_by::ranker;
      ++(ranked ? report_.ranked : report_.explored);
      (ranked ? report_.ranked_kept : report_.explored_kept) += kept ? 1 : 0;
      if (last_ && last_->second != value && last_->first != it->second.predicted) {
        ++report_.pairs;
        report_.pairs_right += (last_->first < it->second.predicted) == (last_->second < value) ? 1 : 0;
      }
      last_ = {it->second.predicted, value};
    }
    out_.erase(it);
  }

 private:
  enum class chosen_by : std::uint8_t { age, ranker, chance };
  struct expectation {
    std::vector<double> features;
    double predicted = 0;
    chosen_by by = chosen_by::age;
  };

  entry take_out(std::size_t place) {
    entry e = std::move(waiting_[place]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
    return e;
  }

  std::optional<screening> screen_;
  std::deque<entry> waiting_;
  std::unordered_map<candidate_id, expectation> out_;  // proposals that are being evaluated
  std::optional<std::pair<double, double>> last_;      // prediction and actual value of the latest result
  double least_ = screening_features::worthless;       // the least value learned so far
  screening_report report_;
};

}  // namespace kevo::detail
