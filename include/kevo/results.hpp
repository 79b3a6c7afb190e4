#pragma once
// The results of a run so far, as an operator that learns from them sees them.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <kevo/candidate.hpp>
#include <kevo/evaluation.hpp>

namespace kevo {

/// The result of one evaluation, linked to the results before it. Immutable, so that a request can hold the
/// list as it was when the request was made while the search goes on: a replay gives an operator the same
/// list. A candidate that was evaluated several times occurs several times in the list; its latest result
/// counts.
struct told_result {
  candidate_id candidate = no_candidate;
  kevo::outcome outcome = kevo::outcome::build_failed;  ///< of this evaluation
  double score = 0;  ///< the candidate's score after this evaluation, with earlier ones averaged in
  double log_error =
      0;              ///< standard deviation of the logarithm of the speedup, from its interval; 0 if unknown
  double cost_s = 0;  ///< [s] wall time of the evaluation
  candidate_id parent = no_candidate;         ///< the first parent; `no_candidate` for seeds
  std::string summary;                        ///< as candidate_snapshot::summary
  std::size_t count = 1;                      ///< number of results, this one and all before
  std::shared_ptr<const told_result> before;  ///< null for the first

  told_result() = default;
  told_result(const told_result&) = delete;
  told_result& operator=(const told_result&) = delete;
  /// Frees the results before this one that nobody else holds, without recursion.
  ~told_result() {
    std::shared_ptr<const told_result> next = std::move(before);
    while (next && next.use_count() == 1) {
      // Nobody else can see the object, and it is about to end.
      std::shared_ptr<const told_result> further = std::move(const_cast<told_result&>(*next).before);
      next = std::move(further);
    }
  }
};

}  // namespace kevo
