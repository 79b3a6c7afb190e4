#pragma once
// An archive of the k candidates with the highest scores, whatever their measures.

#include <cmath>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/detail/ranking.hpp>

namespace kevo {

/// Keeps the `k` candidates with the highest scores; of equal scores, the older ones. FunSearch and
/// ShinkaEvolve keep such "top programs". OpenEvolve's archive follows the same rule. All operations are
/// O(log k).
class top_k {
 public:
  /// An empty archive that keeps at most `k` candidates; with k = 0 it keeps none.
  explicit top_k(std::size_t k = 100) : k_(k) {}

  /// Offers a candidate: `new_cell` while there are fewer than k elites, then `improved` by the gain over the
  /// worst elite, which is removed.
  archive_result add(const archive_entry& entry) {
    if (!std::isfinite(entry.score)) return {};
    if (scores_.contains(entry.id)) return update(entry);
    archive_result result{archive_status::new_cell, entry.score};
    if (size() >= k_) {
      if (k_ == 0) return {};
      const elite worst = at(size() - 1);
      if (!(entry.score > worst.score)) return {};
      remove(worst.id);
      result = {archive_status::improved, entry.score - worst.score};
    }
    scores_[entry.id] = entry.score;
    order_.insert(entry.id, entry.score);
    return result;
  }

  /// A kept candidate stays, whatever its new score, because the candidates that it displaced are no longer
  /// known: `improved` if its score increased, else `rejected`. A candidate that is not kept is offered.
  archive_result update(const archive_entry& entry) {
    const auto it = scores_.find(entry.id);
    if (it == scores_.end()) return add(entry);
    if (!std::isfinite(entry.score)) return remove(entry.id), archive_result{};
    const double gain = entry.score - it->second;
    order_.erase(entry.id, it->second);
    order_.insert(entry.id, entry.score);
    it->second = entry.score;
    return gain > 0 ? archive_result{archive_status::improved, gain} : archive_result{};
  }

  bool remove(candidate_id id) {
    const auto it = scores_.find(id);
    if (it == scores_.end()) return false;
    order_.erase(id, it->second);
    scores_.erase(it);
    return true;
  }

  archive_forecast forecast(const archive_entry& entry, candidate_id without) const {
    if (!std::isfinite(entry.score) || k_ == 0) return {true, false, {}};
    if (size() - (contains(without) ? 1 : 0) < k_) return {true, true, {}};
    const std::size_t last = size() - 1;
    const elite worst = at(last).id == without ? at(last - 1) : at(last);
    if (!(entry.score > worst.score)) return {true, false, {}};
    return {true, true, {worst.id}};
  }

  std::optional<elite> sample(rng& random) const {
    if (size() == 0) return std::nullopt;
    return at(random.below(size()));
  }
  std::size_t size() const { return order_.size(); }
  /// The elite of rank i; 0 is the best.
  elite at(std::size_t i) const {
    const candidate_id id = order_.nth(i);
    return {id, scores_.at(id), 0};
  }
  bool contains(candidate_id id) const { return scores_.contains(id); }
  candidate_id nth_best(std::size_t rank) const { return order_.nth(rank); }
  double total_score() const { return order_.total(); }
  candidate_id at_mass(double mass) const { return order_.at_mass(mass); }
  /// The capacity k, so that a display can show how much of it is used.
  std::size_t cells() const { return k_; }

 private:
  std::size_t k_;
  detail::ranking order_;
  std::unordered_map<candidate_id, double> scores_;
};

}  // namespace kevo
