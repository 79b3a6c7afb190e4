#pragma once
// What the further readings of programs with host code say, besides the device times of held calls: the time
// from a call to its synchronized result, and time that a program saves at the expense of other moments.
// Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <kevo/evaluation.hpp>

namespace kevo::cuda {

/// Calls of a block besides those of its pairs, for each of the two programs.
struct further_plan {
  std::uint32_t host_pairs = 0;  ///< pairs of host times
  std::uint32_t host_calls = 0;  ///< calls of each
  std::uint32_t busy_calls = 0;  ///< held calls before whose beginning the device is busy
  /// There are so few contents that a process of its own gives the candidate's host times.
  bool host_process = false;

  /// One call comes first in each interval, untimed.
  std::uint32_t host_contents() const { return host_pairs > 0 ? host_pairs * host_calls + 1 : 0; }
  std::uint32_t busy_contents() const { return busy_calls > 0 ? busy_calls + 1 : 0; }
  /// What the process of the pairs needs for further readings.
  std::uint32_t contents() const { return (host_process ? 0 : host_contents()) + busy_contents(); }
};

/// How many of the `contents` of a process further readings may have. @param as_score host times are the
/// score: they get half of the contents
further_plan plan_further(std::uint32_t contents, std::uint32_t room, bool as_score);

/// Times of calls of one program in one block, or of one pair, one by one. [ns]
struct call_times {
  std::vector<double> held;  ///< device times
  std::vector<double> busy;  ///< the same, of calls before whose beginning the device was busy
  std::vector<double> host;  ///< from a call to its synchronized result, with what kevo does in it
  /// What lies between these calls: their inputs come, the device changes its context, results are looked at.
  std::vector<double> around;
  // Of a baseline's process alone, by kevo's own code in it:
  std::vector<double> idle;   ///< as `host`, without the program
  std::vector<double> early;  ///< as `busy`, and a little work is begun before
};

/// How much more of something a candidate's readings show than the baseline's beside them; 0 unless that is
/// certain. Pure. [ns] @param least_ns what programs differ by
double certain_excess(const std::vector<double>& candidate, const std::vector<double>& baseline,
                      double least_ns);

/// All further readings of one workload.
class further_readings {
 public:
  explicit further_readings(further_plan plan = {}) : plan_(plan) {}

  const further_plan& plan() const { return plan_; }
  /// The held calls of one pair.
  void add_pair(const std::vector<double>& candidate, const std::vector<double>& baseline);
  /// The calls of one block.
  void add_block(const call_times& candidate, const call_times& baseline);

  /// Host times of the candidate and of the baseline. Time that the candidate takes between its calls, more
  /// than the baseline does, is part of its times, and so is what it does in some calls for all of them.
  std::vector<timing_pair> host_pairs() const;
  /// What is added to every device time of the candidate: work that it does before a call begins, and work
  /// that it does in some calls for all of them. [ns]
  double free_ns() const;
  /// How much longer a busy call is than a held one, of the candidate and of the baseline; nothing where none
  /// was made. [ns]
  std::optional<timing_pair> busy_excess() const;
  /// Blocks whose busy calls say nothing, because streams of the candidate that wait kept the device.
  std::size_t untold_blocks() const { return untold_blocks_; }
  double uneven_ns() const;
  double added_ns() const { return free_ns() + uneven_ns(); }

 private:
  further_plan plan_;
  std::vector<timing_pair> host_pairs_;
  std::vector<double> idle_;  // of a call, of each block
  std::vector<double> candidate_busy_, baseline_busy_;
  std::size_t untold_blocks_ = 0;
  std::vector<double> early_;  // what changes of contexts for work that is begun early take, of each block
  std::vector<double> candidate_around_, baseline_around_;
  std::vector<double> times_;  // of the candidate's held calls, of each pair
  // By how much calls are longer in the mean than the time that counts, of each pair; the baseline's as they
  // would be for a program that takes as long as the candidate.
  struct excesses {
    std::vector<double> candidate, baseline;
    void add(const std::vector<double>& candidate_calls, const std::vector<double>& baseline_calls);
    double certain(double call_ns) const;
  };
  excesses uneven_;
  excesses host_uneven_;
};

}  // namespace kevo::cuda
