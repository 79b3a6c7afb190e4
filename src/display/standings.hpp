#pragma once
// The valid candidates of a run by score, as `run_history` ranks them: while there is no champion, the first
// of them is what a display calls the best.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/event.hpp>

namespace kevo {

/// What is known of a valid candidate.
struct candidate_standing {
  double score = 0;    ///< as the search knows it: the latest, averaged over fresh re-evaluations
  double speedup = 0;  ///< of the latest evaluation; 0 if the fitness function gave a score alone
  interval speedup_interval;
  bool measured_again = false;  ///< the latest evaluation was in fresh processes, as a confirmation is
};

/// A value. It remembers the best `kept` candidates, so that its memory is bounded whatever the run's length.
class standings {
 public:
  static constexpr std::size_t kept = 4096;

  /// An evaluation ended. @param fresh it was asked for although one was known
  void tell(candidate_id who, const evaluation& result, bool fresh);

  /// The candidate of the highest score for which `wanted(id, standing)` holds; of equals the oldest.
  template <class Predicate>
  std::optional<candidate_id> first(Predicate wanted) const {
    for (const auto& [negative_score, who] : order_) {
      if (wanted(who, known_.at(who))) return who;
    }
    return std::nullopt;
  }
  const candidate_standing& of(candidate_id who) const { return known_.at(who); }

 private:
  std::vector<std::uint16_t> evaluations_;  ///< by candidate
  std::map<candidate_id, candidate_standing> known_;
  std::set<std::pair<double, candidate_id>> order_;  ///< by the negative score, so that the best comes first
};

}  // namespace kevo
