#pragma once
// Candidate against baseline on the device, interleaved ABBA, on one workload: the same mechanism, number of
// calls and traffic for both.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <kevo/error.hpp>
#include <kevo/evaluation.hpp>

#include "fitness/cuda/measure/further_readings.hpp"
#include "fitness/cuda/measure/program_runner.hpp"
#include "fitness/cuda/measure/reading_plans.hpp"

namespace kevo::cuda {

/// So many blocks were thrown away that there is no time. A second evaluation may find a quieter machine.
struct unmeasurable : error {
  using error::error;
};

/// Times pairs. Several timers may share runners, one after the other.
class pair_timer {
 public:
  pair_timer(program_runner& candidate, program_runner& baseline, std::size_t workload, reading_plan plan,
             std::chrono::nanoseconds limit);
  /// Times by intervals of the trusted clock from now on, for pairs of which one side is hosted.
  /// @param empty the trusted empty program, whose intervals tell what to subtract; null: calls of nothing in
  /// each process tell it (programs in Python)
  void use_intervals(program_runner* empty);

  /// How long the untimed first call of a size in a process of a hosted program may take, if longer than any
  /// other.
  void allow_first(std::chrono::nanoseconds limit) { first_limit_ = limit; }

  /// One block of four readings, or why the candidate is not valid. A failure of the baseline throws
  /// kevo::error (environment).
  std::optional<call_failure> block();

  /// Ends the processes of both sides: what a process adds to a time by where its code and data happen to lie
  /// is drawn again. That of a hosted baseline goes on unless a block has a process of its own anyhow, for it
  /// makes its plans anew each time.
  void renew();
  /// After so many pairs a confirmation calls `renew`. They count as one value.
  std::size_t pairs_of_process() const { return plan_.slow_start ? plan_.pairs : 2; }

  /// The candidate alone, call after call for so long: one call's time at the end, when the device is as warm
  /// as it gets. [ns] Of the last third of the readings, the median. In one process, where it has one:
  /// contents may come again.
  std::variant<double, call_failure> sustained(double seconds);

  /// Each of a call. Where the trusted clock shows that the candidate's calls take longer than its events
  /// say, so much is added.
  const std::vector<timing_pair>& pairs() const { return shown_pairs_; }
  /// The same of host times: from a call to its synchronized result. Empty where they are not measured.
  std::vector<timing_pair> host_pairs() const { return further_.host_pairs(); }
  /// Those by which the candidate is judged. @param host the host times
  std::vector<timing_pair> scored_pairs(bool host) const { return host ? host_pairs() : shown_pairs_; }
  /// What the further readings of a block showed; part of it is in `pairs`.
  const further_readings& further() const { return further_; }
  /// What was added to every time of the candidate for that reason; 0 if the two clocks agree. [ns]
  double hidden_ns() const { return hidden_ns_; }
  /// Blocks that were thrown away because the clock of the device changed within them, or a reading was
  /// disturbed.
  int discarded() const { return discarded_; }
  /// How long the device rests before each reading, because its clock changed within earlier blocks; 0: not
  /// at all.
  std::chrono::milliseconds rest() const;
  std::size_t workload() const { return workload_; }
  /// Readings of the candidate in which its events and the trusted clock disagreed.
  int disagreements() const { return disagreements_; }
  int readings() const { return readings_; }
  /// Whether the two clocks disagreed in so many readings that these were not discarded any more: a reading
  /// is then what the trusted clock saw, if that is longer.
  bool trusted_clock_alone() const { return trusted_clock_alone_; }
  /// Whether calls that were timed several in a graph took another share of the baseline's time than calls
  /// that were timed alone: then all pairs are of calls that were timed alone.
  bool modes_disagreed() const { return modes_disagreed_; }
  double constant_ns() const;

  bool by_intervals() const { return by_intervals_; }
  /// Of an interval: how far two readings of the empty program, or of calls of nothing in any process, lie
  /// apart (interquartile), for each call. [ns]
  double resolution_ns() const;
  double shortest_interval_ns() const { return shortest_ns_; }
  std::uint32_t calls() const { return plan_.calls; }

 private:
  static constexpr std::size_t least_constants = 3;  // readings of the empty program

  struct reading {
    double ns = 0;  // per call
    bool disturbed = false;
    std::optional<call_failure> failure;
    std::vector<double> each = {};  // of an interval: its calls, one by one [ns]
  };
  // Contents of one reading of the candidate, and of the baseline's beside it: both work on the same ones.
  struct drawn_contents {
    std::vector<std::uint32_t> timed;
    std::vector<std::uint32_t> warm_up;  // of a call that is not timed
  };
  // Contents of a block of a process.
  struct block_contents {
    std::vector<drawn_contents> pairs;
    std::vector<std::uint32_t> host;
    std::vector<std::uint32_t> busy;
  };
  drawn_contents draw();
  block_contents draw_block();
  std::optional<call_failure> block_of_process();
  std::optional<call_failure> block_of_turns();
  bool clock_changed();
  int most_lost() const;
  void require_some_pairs() const;
  [[noreturn]] void no_time() const;
  call_failure clocks_disagree() const;
  void use_trusted_clock_alone();
  std::optional<call_failure> warm_up(program_runner& program, const drawn_contents& contents);
  reading read(program_runner& program, bool trusted, const drawn_contents& contents);
  reading read_interval(program_runner& program, bool trusted, const drawn_contents& contents);
  std::optional<call_failure> begin_host_process(block_contents& block);
  std::optional<call_failure> read_further(program_runner& program, const block_contents& contents,
                                           call_times& times);
  void read_trusted(const block_contents& contents, call_times& times);
  reading read_again();
  reading concluded(const gpu_time& time, bool trusted);
  std::optional<call_failure> compare_modes();
  double interval_time(const gpu_time& time) const;
  void read_empty();
  std::optional<call_failure> read_nothing(program_runner& program, std::uint32_t content);
  void keep_clocks(const gpu_time& time);
  void show_pairs();
  double reading_tolerance_ns() const;

  program_runner* candidate_;
  program_runner* baseline_;
  program_runner* empty_ = nullptr;
  bool by_intervals_ = false;
  double candidate_nothing_ns_ = 0;  // of an interval of calls of nothing in the process at hand
  double baseline_nothing_ns_ = 0;
  std::size_t workload_;
  reading_plan plan_;
  std::chrono::nanoseconds limit_;
  std::chrono::nanoseconds first_limit_{0};
  std::vector<double> constants_;  // of the baseline's readings, of the empty program's or of nothing [ns]
  std::vector<double> fences_;     // of the baseline's readings: until the device was quiet [ns]
  bool modes_compared_ = false;
  double shortest_ns_ = 0;  // of the intervals
  // Of a multiprocessor, of the block at hand: after each reading, and before it where the device rested
  // longest. [MHz]
  std::vector<double> begin_clocks_;
  std::vector<double> end_clocks_;
  std::vector<double> excesses_;  // of the candidate's readings, as `constants_` of the baseline's [ns]
  std::vector<timing_pair> pairs_;
  std::vector<timing_pair> shown_pairs_;
  double hidden_ns_ = 0;  // what `shown_pairs_` has more than `pairs_`, besides that of `further_`
  further_readings further_;
  int discarded_ = 0;
  int disagreements_ = 0;
  int grave_disagreements_ = 0;  // of these, and of those below: it was seen to take far longer than claimed
  int late_disagreements_ = 0;   // the same while the trusted clock was late
  int trusted_disagreements_ = 0;  // readings of the baseline about which the clocks disagree
  bool modes_disagreed_ = false;
  int contested_ = 0;  // blocks in which the clocks disagreed
  bool trusted_clock_alone_ = false;
  int discarded_before_ = 0;  // discarded blocks before that, or before the device rested
  int clock_changes_ = 0;     // blocks in which the device's clock changed
  int readings_ = 0;
};

}  // namespace kevo::cuda
