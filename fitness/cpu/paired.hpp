#pragma once
// Candidate against baseline, interleaved ABBA, on one workload: the same mechanism, plan and traffic for
// both.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <kevo/evaluation.hpp>

#include "fitness/cpu/runner.hpp"
#include "fitness/cpu/stored_work.hpp"

namespace kevo {

/// What is done in one block: turns of B C C B, or C B B C in every other block, each of so many calls. Where
/// one of the two is much slower, it has one turn of one call.
struct pairing_plan {
  int candidate_calls = 1;
  int baseline_calls = 1;
  int rounds = 1;     ///< how often the four turns are taken
  bool half = false;  ///< two turns instead of four
  /// So many processes of the candidate have a turn for the one of a slow baseline.
  int candidate_processes = 1;
  /// Delivered calls of both programs begin with a sleep, because a call of one of them may be too long for a
  /// worker that is awake: nearly equal programs are timed alike.
  bool from_rest = false;
  double pair_ns = 0;   ///< what all of this takes, starting the processes included; roughly
  int pacer_calls = 8;  ///< after the first block: of a long call, what waking up costs is a small part
};

/// Chooses a plan from what one call of each takes: about `block_ns` of calls, as far as there are contents;
/// 0 is two turns, as little as can be. Turns are short, so that both programs run under the same conditions.
/// Every plan is timed by the same clock, so that a candidate gains nothing by steering the choice.
///
/// Where a call of the baseline takes far longer, what differs from process to process of the candidate is
/// most of what differs from pair to pair, and a call of the baseline costs as much as many of these
/// processes. So several of them make one time of a pair, as long as they take at most a third of the time of
/// the baseline's calls. @param start_ns of starting a process
pairing_plan plan_pairing(double candidate_ns, double baseline_ns, std::size_t contents, double block_ns,
                          double start_ns = 3e6);

/// What waking up and stopping a worker cost beyond its call, from calls of the pacer: a trusted program that
/// does nothing for `pace_ns` of real time.
inline constexpr double pace_ns = 20e3;
class call_boundary {
 public:
  void add(const call_time& pacer);
  bool empty() const { return costs_.empty(); }
  /// [ns] The median of the latest calls: it changes with what else the machine does. If their interquartile
  /// range exceeds 5 us, other work delayed some of them, and it is their 10 % quantile instead.
  double cost_ns() const;
  /// The interquartile range of the costs of single calls: a time is not known better than this. [ns]
  double spread_ns() const;
  /// Times under this are not told from each other: the spread, within bounds. [ns]
  double resolution_ns() const;

 private:
  std::vector<double> costs_;
};

/// Contents in the order in which timed calls are given them: secret, but each eight in a row are the same
/// mixture, so that few calls are of the same kinds as many.
content_list shuffled_mixture(const content_list& contents, rng& random);

/// Times pairs. Each block is one pair, from a process of its own for either program: what is peculiar to a
/// process (where its pages lie) is in the differences between pairs, and so in the interval. The calls of a
/// content have their buffers at the same places of a page in both programs: where two buffers lie to each
/// other changes what a call takes by some per cent, and is no difference between the programs. Several
/// timers may share runners, one after the other.
class paired_timer {
 public:
  /// @param pacer the trusted program that `call_boundary` speaks of
  /// @param contents at least two; candidate and baseline are given the same, in the same order
  paired_timer(runner& candidate, runner& baseline, runner& pacer, std::size_t workload,
               const content_list& contents, pairing_plan plan, std::chrono::nanoseconds limit, rng random);

  /// The untimed first calls of the candidate's processes are given these contents, one each, as long as
  /// there are any: contents of the timed mixture with which the candidate has yet to be checked.
  void check_first(content_list contents) { unchecked_ = std::move(contents); }
  /// Those that no process has been given yet.
  const content_list& unchecked() const { return unchecked_; }

  /// After its untimed first call, a process has further ones with the same inputs, whose results are not
  /// judged. They are the fewer the longer they take.
  void warm_up() { warms_up_ = true; }
  /// So many contents that no process of the candidate has been given yet.
  using content_source = std::function<content_list(std::size_t)>;
  /// From now on each process of the candidate has contents from there, and no two of them the same.
  void draw_from(content_source source) { source_ = std::move(source); }
  /// What drawing them took so far. [s]
  double drawing_s() const { return drawing_s_; }

  /// Makes the runners ready for this workload; before the first block and after another timer was at work.
  void select();

  /// One block. Nothing, or why the candidate is not valid. A failure of the baseline throws kevo::error
  /// (environment).
  std::optional<call_failure> block();

  /// What a process of the candidate did before its timed calls (loading, its first call) may have been work
  /// for them: buffers that are filled ahead, each used up by a call. Where the process holds enough memory
  /// for that, calls whose results are not judged use up what it may hold, for at most `seconds`, and then
  /// both programs are timed once more; what this takes longer than the pairs did is told of all pairs. Where
  /// there were too few calls, what was done before the timed calls is shared out among them.
  /// @return what of it is worth a remark; empty for nothing
  std::variant<std::string, call_failure> use_up(double seconds);

  /// The candidate alone for `seconds`, as a champion would be used: call after call, each verified as
  /// always. Gives the median of the last third [ns per call].
  std::variant<double, call_failure> sustained(double seconds);

  const std::vector<timing_pair>& pairs() const { return pairs_; }
  /// Blocks that were begun again because a trusted program took too long.
  std::size_t discarded() const { return discarded_; }
  std::size_t workload() const { return workload_; }
  const pairing_plan& plan() const { return plan_; }
  /// Times under this count as this. [ns] 0 where the time includes the delivery of the inputs.
  double resolution_ns() const { return delivered_ ? 0 : boundary_.resolution_ns(); }
  /// By how much a time of the candidate may be too small because the cost of a call's boundary changes. [ns]
  double spread_ns() const { return delivered_ ? 0 : boundary_.spread_ns(); }
  /// Whether times include the delivery of the inputs: `call_clock::delivered`.
  bool delivered() const { return delivered_; }
  /// Whether the candidate or the baseline was raised to the resolution.
  bool too_short() const { return too_short_; }

 private:
  using contents_of_calls = std::span<const std::shared_ptr<const content>>;
  contents_of_calls next_contents();
  std::size_t contents_of_process() const;
  void shuffle_contents();
  void begin_processes();
  // Times of calls. [ns]
  struct readings {
    std::vector<double> quiet;
    std::vector<double> disturbed;
    std::vector<double> beside;    ///< `call_time::beside_ns`
    std::vector<double> prepared;  ///< `call_time::prepared_ns`
    std::vector<double> whole;     ///< with what was worked beside them, of calls that were not disturbed
    std::vector<double> late;      ///< the same of calls that the worker itself made late
    /// Whether calls began with a sleep, so that none of them can be late.
    bool from_rest() const { return 2 * beside.size() > quiet.size(); }
    /// Of calls in which the controller was not disturbed. Those that were late say something of a program
    /// only beside another one whose calls may be late, too.
    std::vector<double> comparable_with(const readings& other) const;
  };
  std::optional<call_failure> begin_calls(runner& program);
  std::optional<call_failure> drain(double call_ns);
  std::optional<call_failure> read(runner& program, contents_of_calls given, const rng& places,
                                   readings& times);
  double settled(const readings& times);
  void begin_pacing();
  double worked_before(const readings& candidate, const readings& baseline);
  double worked_beside(const readings& candidate, const readings& baseline, double call_ns);
  void add_pair(const readings& candidate, const readings& baseline, double candidate_ns, double uneven_ns);
  void pace();
  std::optional<call_failure> block_of_turns();
  std::optional<call_failure> block_of_processes();
  std::variant<stored_work, call_failure> set_up_again();
  std::variant<double, call_failure> ratio_after(const stored_work& stored, double seconds, int& calls);

  runner* candidate_;
  runner* baseline_;
  runner* pacer_;
  std::size_t workload_;
  const content_list* contents_;
  pairing_plan plan_;
  std::chrono::nanoseconds limit_;
  rng random_;
  call_boundary boundary_;
  std::vector<double> beside_;          // of each block: see worked_beside [ns]
  std::vector<double> usual_beside_;    // what that was compared with [ns]
  std::vector<double> before_;          // of each block: see worked_before [ns]
  std::vector<double> usual_before_;    // what that was compared with [ns]
  std::vector<double> usually_uneven_;  // of each block: `usual_excess` [ns]
  std::vector<double> uneven_;          // of each block: its `excess_of_mean` beyond the usual one [ns]
  std::vector<double> even_;            // of each block: the candidate's time without that [ns]
  content_list cycle_;                  // a process sees each once; the first is of its untimed first call
  std::size_t place_ = 0;               // in the cycle
  bool delivered_ = false;
  std::vector<timing_pair> pairs_;
  std::size_t discarded_ = 0;
  bool too_short_ = false;
  std::optional<call_failure> load_failure_;  // of the candidate's latest process
  content_list unchecked_;                    // by untimed first calls, in this order
  content_source source_;                     // null: each process has those of `contents_`
  double drawing_s_ = 0;
  bool warms_up_ = false;
};

}  // namespace kevo
