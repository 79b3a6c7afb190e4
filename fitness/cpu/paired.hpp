#pragma once
// Candidate against baseline, interleaved ABBA, on one workload: the same mechanism, plan and traffic for
// both.

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <kevo/evaluation.hpp>

#include "fitness/cpu/runner.hpp"

namespace kevo {

/// How calls are timed.
enum class clock_mode : std::uint8_t { isolated, intervals };

/// What is done in one block: `candidate_calls`, `baseline_calls`, `baseline_calls`, `candidate_calls`. Where
/// the baseline is much faster than the candidate, one call of each (`half`).
struct pairing_plan {
  clock_mode mode = clock_mode::isolated;
  int candidate_calls = 1;
  int baseline_calls = 1;
  bool half = false;
};

/// Chooses a plan from what one call of each takes and how long it takes to stop a worker: calls shorter than
/// 20 of those are timed in intervals of at least 10 ms (or as many calls as there are contents).
pairing_plan plan_pairing(double candidate_ns, double baseline_ns, double stop_ns, std::size_t contents,
                          std::size_t slot_bytes);

/// Times pairs. Several timers may share runners, one after the other.
class paired_timer {
 public:
  /// @param empty the trusted empty program: what it takes with the same plan and traffic is subtracted from
  /// intervals
  paired_timer(runner& candidate, runner& baseline, runner& empty, std::size_t workload,
               const content_list& contents, pairing_plan plan, std::chrono::nanoseconds limit);

  /// Makes the runners ready for this workload; before the first block and after another timer was at work.
  void select();

  /// One block. Nothing, or why the candidate is not valid. A failure of the baseline or of the empty program
  /// throws kevo::error (environment).
  std::optional<call_failure> block();

  /// The candidate alone for `seconds`, as a champion would be used: call after call, each verified as
  /// always. Gives the median of the last third [ns per call], 0 if too little was timed.
  std::variant<double, call_failure> sustained(double seconds);

  /// Blocks that gave a pair. A block in which something took no longer than the empty program is discarded,
  /// never rounded up to a time: the machine was too busy to measure.
  const std::vector<timing_pair>& pairs() const { return pairs_; }
  int discarded() const { return discarded_; }
  std::size_t workload() const { return workload_; }
  const pairing_plan& plan() const { return plan_; }
  int candidate_calls() const { return calls_; }

 private:
  struct reading {
    double ns = 0;  // per call
    std::optional<call_failure> failure;
  };
  reading read(runner& program, int calls, double constant);
  reading read_isolated(runner& program, int calls);
  double constant_of(int calls);

  runner* candidate_;
  runner* baseline_;
  runner* empty_;
  std::size_t workload_;
  const content_list* contents_;
  pairing_plan plan_;
  std::chrono::nanoseconds limit_;
  std::vector<double> constants_candidate_;  // of each block so far
  std::vector<double> constants_baseline_;
  int discarded_ = 0;
  int candidate_discarded_ = 0;  // of these, those in which the baseline's time was there
  std::vector<double> baseline_wakes_;
  std::vector<timing_pair> pairs_;
  int calls_ = 0;
};

}  // namespace kevo
