#pragma once
// The evaluation: the result of running a program on a task, as a fitness function returns it. The failure of
// a candidate is a value here, never an exception.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kevo {

/// Result of evaluating a candidate. Faults of the machine are not outcomes; they are exceptions (error.hpp).
enum class outcome : std::uint8_t {
  valid,          ///< its results were compared with the reference, and it passed every check
  build_failed,   ///< refused before the build, or does not compile
  launch_failed,  ///< built, but cannot be loaded or launched
  crashed,        ///< ended by a signal, an exit code other than 0, an exception or an error of the device
  timed_out,      ///< did not finish within its time limit
  incorrect,      ///< its output is not within the tolerance
  rejected,       ///< the program tried to cheat, or broke a rule of its interface
  suspect,        ///< a time that is physically impossible, or a measurement that contradicts itself; such a
                  ///< candidate never becomes champion
  unchecked,  ///< it compiles, and no more was asked for (evaluation_stage::built): whether its results are
              ///< right is not known
};

/// The names of the outcomes, in the order of `outcome`.
inline constexpr std::array<std::string_view, 9> outcome_names = {"valid",    "build_failed", "launch_failed",
                                                                  "crashed",  "timed_out",    "incorrect",
                                                                  "rejected", "suspect",      "unchecked"};

/// The name of an outcome, as in the journal and in JSON output.
inline constexpr std::string_view to_string(outcome o) {
  return outcome_names[static_cast<std::size_t>(o)];
}
/// Name of an outcome, or "not_run" if there is none.
inline constexpr std::string_view to_string(const std::optional<outcome>& o) {
  return o ? to_string(*o) : "not_run";
}
/// The inverse of `to_string`; nothing for an unknown name.
inline constexpr std::optional<outcome> parse_outcome(std::string_view name) {
  for (std::size_t i = 0; i < outcome_names.size(); ++i) {
    if (outcome_names[i] == name) return static_cast<outcome>(i);
  }
  return std::nullopt;
}

/// A confidence interval, given by its two ends.
struct interval {
  double low = 0;   ///< lower end
  double high = 0;  ///< upper end
  friend bool operator==(const interval&, const interval&) = default;
};

/// One pair of readings: the times per call of the candidate (C) and of the baseline (B), measured
/// alternately, usually in the order BCCB or CBBC, so that both programs run under the same conditions.
struct timing_pair {
  double candidate_ns = 0;  ///< [ns] time of one call of the candidate
  double baseline_ns = 0;   ///< [ns] time of one call of the baseline
  friend bool operator==(const timing_pair&, const timing_pair&) = default;
};

/// One of the two times of a call on a device beside the host, compared with the baseline's. All members are
/// 0 if it was not measured.
struct time_figures {
  double ns = 0;           ///< [ns] of a call of the candidate
  interval range;          ///< [ns] confidence interval of `ns`
  double baseline_ns = 0;  ///< [ns] of a call of the baseline
  double speedup = 0;      ///< `baseline_ns` over `ns`, estimated from the pairs
  friend bool operator==(const time_figures&, const time_figures&) = default;
};

/// Results on one workload. Times are pseudo-medians over the timing pairs (evaluate/statistics.hpp).
struct workload_result {
  std::string uuid;                          ///< identifies the workload within the task
  std::map<std::string, std::int64_t> axes;  ///< values of its variable axes, by name
  bool hidden = false;                       ///< whether it is checked only, and never timed
  std::optional<kevo::outcome> outcome;      ///< nothing if the workload was not run to its end
  double time_ns = 0;                        ///< [ns] 0 if not measured
  interval time_interval;                    ///< [ns] confidence interval of `time_ns`
  double baseline_ns = 0;                    ///< [ns] time of the baseline; 0 if not measured
  double speedup = 0;       ///< time of the baseline over time of the candidate; 0 if not measured
  double sol_fraction = 0;  ///< speed-of-light time over measured time; 0 if unknown
  double sustained_ns = 0;  ///< [ns] time per call when the candidate is called repeatedly, without the
                            ///< baseline in between; 0 unless confirmed
  /// Places of the candidate's code at which it was timed; 0: one, where its build put it. Where each pair
  /// has a place of its own, how far the candidate's times in `samples` lie apart says how much it depends on
  /// them.
  std::size_t placements = 0;
  std::vector<timing_pair> samples;  ///< all pairs of readings, in time order
  double weight = 1;                 ///< weight in the geometric mean of the speedups
  /// Where two times of a call were measured, both; one of them is `time_ns`. `device`: what the call takes
  /// on the device. `host`: from the call to its synchronized result, so that launches count.
  time_figures device = {};
  time_figures host = {};
};

/// Cost of an evaluation. The cost of an evaluation that was taken from the cache is the time for which it
/// waited, and nothing else.
struct evaluation_cost {
  double wall_s = 0;    ///< [s] wall time from begin to end, waits included
  double device_s = 0;  ///< [s] time for which the device was reserved for measuring (the measuring lock was
                        ///< held); for the command backend, the run time of the command
  double waited_s = 0;  ///< [s] part of `wall_s` during which other processes held the device
  /// [s] Parts of the wall time by name ("compile", "waiting", ...), as far as the fitness function reports
  /// them. Parts do not overlap. Their sum may be less than `wall_s`; the rest was not attributed.
  std::map<std::string, double> parts_s = {};
};

/// Stages of an evaluation, in their order. A stage includes all earlier ones. An outcome is a statement
/// about the stages up to the reached one only. A program that was only built is `unchecked`, never `valid`.
enum class evaluation_stage : std::uint8_t {
  none,         ///< no stage was reached, or the fitness function has no stages
  built,        ///< compiled
  checked,      ///< outputs compared with those of the reference
  timed_short,  ///< timed with few pairs of readings
  timed_full,   ///< timed with the full number of pairs
  confirmed,    ///< measured again by the full protocol, in new processes and never from a cache
};

/// The names of the stages, in the order of `evaluation_stage`.
inline constexpr std::array<std::string_view, 6> evaluation_stage_names = {
    "none", "built", "checked", "timed_short", "timed_full", "confirmed"};
/// The name of a stage, as in the journal and in JSON output.
inline constexpr std::string_view to_string(evaluation_stage s) {
  return evaluation_stage_names[static_cast<std::size_t>(s)];
}
/// The inverse of `to_string`; nothing for an unknown name.
inline constexpr std::optional<evaluation_stage> parse_evaluation_stage(std::string_view name) {
  for (std::size_t i = 0; i < evaluation_stage_names.size(); ++i) {
    if (evaluation_stage_names[i] == name) return static_cast<evaluation_stage>(i);
  }
  return std::nullopt;
}

/// The complete result of evaluating a program on a task.
struct evaluation {
  kevo::outcome outcome = kevo::outcome::build_failed;
  double speedup = 0;         ///< weighted geometric mean over visible workloads; 0 unless valid and compared
  interval speedup_interval;  ///< confidence interval of `speedup`
  double score = 0;  ///< number that selection maximizes: the speedup, or any finite number that the fitness
                     ///< function chooses
  double sol_fraction = 0;  ///< smallest value over the visible workloads; 0 if unknown
  /// The last stage that was reached. A valid evaluation with stage `none` counts as having reached the stage
  /// that was asked for (`with_stage`).
  evaluation_stage stage = evaluation_stage::none;
  bool cached = false;   ///< taken from the cache; a cached time never makes a candidate champion
  std::string baseline;  ///< name of the baseline
  std::map<std::string, double> other_speedups;  ///< speedups over further baselines, by their names
  /// Their confidence intervals, by the same names; evaluations that were recorded before there were any have
  /// none.
  std::map<std::string, interval> other_speedup_intervals;
  std::vector<workload_result> workloads;  ///< in the order of the task
  std::map<std::string, double> measures;  ///< descriptors by name; archives choose cells by them
  std::string feedback;  ///< text for users and operators; of a hidden workload it says only that it failed
  std::vector<std::string> reasons;  ///< short texts, one for each failed check
  evaluation_cost cost;
  std::string device;                          ///< name of the device that measured; may be empty
  std::string backend;                         ///< name of the backend, such as "cpu" or "cuda"
  std::string protocol;                        ///< version of the measuring protocol, for example "cpu 3"
  std::map<std::string, std::string> context;  ///< sandbox layers in force, compiler, flags, ...
  /// Where two times of a call were measured (`workload_result::device`, `host`), the speedup by each, one of
  /// which is `speedup`; else 0.
  double device_speedup = 0;
  interval device_speedup_interval;  ///< confidence interval of `device_speedup`
  double host_speedup = 0;           ///< the same for the host's times
  interval host_speedup_interval;    ///< confidence interval of `host_speedup`

  bool valid() const { return outcome == kevo::outcome::valid; }
  /// Whether something is wrong with the program: of one that was only built nothing is known.
  bool failed() const { return !valid() && outcome != kevo::outcome::unchecked; }
};

/// Returns the evaluation; if it is valid and has no stage, its stage is set to `wanted`. What is called
/// valid after a build alone becomes `unchecked`, without a score or a speedup: no result was compared.
inline evaluation with_stage(evaluation e, evaluation_stage wanted) {
  if (!e.valid()) return e;
  if (e.stage == evaluation_stage::none) e.stage = wanted;
  if (e.stage != evaluation_stage::built) return e;
  e.outcome = outcome::unchecked;
  e.score = e.speedup = e.device_speedup = e.host_speedup = 0;
  e.speedup_interval = e.device_speedup_interval = e.host_speedup_interval = {};
  return e;
}

}  // namespace kevo
