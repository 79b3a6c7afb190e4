#pragma once
// What a fitness function says of a program on a task. A candidate's failure is a value here, never an
// exception.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kevo {

/// What became of a candidate. Faults of the machine are not outcomes.
enum class outcome : std::uint8_t {
  valid,
  build_failed,
  launch_failed,
  crashed,
  timed_out,
  incorrect,
  rejected,  ///< caught cheating
  suspect,   ///< a time below what physics allows, or a measurement that contradicts itself; never a record
};

inline constexpr std::array<std::string_view, 8> outcome_names = {
    "valid", "build_failed", "launch_failed", "crashed", "timed_out", "incorrect", "rejected", "suspect"};

inline constexpr std::string_view to_string(outcome o) {
  return outcome_names[static_cast<std::size_t>(o)];
}
/// Of something that may not have been run.
inline constexpr std::string_view to_string(const std::optional<outcome>& o) {
  return o ? to_string(*o) : "not_run";
}
inline constexpr std::optional<outcome> parse_outcome(std::string_view name) {
  for (std::size_t i = 0; i < outcome_names.size(); ++i) {
    if (outcome_names[i] == name) return static_cast<outcome>(i);
  }
  return std::nullopt;
}

/// Two ends of a confidence interval.
struct interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const interval&, const interval&) = default;
};

/// One block of paired timing: what the candidate and the baseline took, interleaved ABBA. [ns per call]
struct timing_pair {
  double candidate_ns = 0;
  double baseline_ns = 0;
  friend bool operator==(const timing_pair&, const timing_pair&) = default;
};

/// What was found on one workload. Times are pseudo-medians of the pairs (statistics.hpp).
struct workload_result {
  std::string uuid;
  std::map<std::string, std::int64_t> axes;
  bool hidden = false;
  std::optional<kevo::outcome> outcome;  ///< nothing where it was not run to its end
  double time_ns = 0;                    ///< [ns] 0 if not measured
  interval time_interval;                ///< [ns]
  double baseline_ns = 0;                ///< [ns]
  double speedup = 0;                    ///< baseline over candidate; 0 if not measured
  double sol_fraction = 0;               ///< speed-of-light time over time; 0 if unknown
  double sustained_ns = 0;  ///< [ns] after going on without the baseline between; 0 unless confirmed
  std::vector<timing_pair> samples;
  double weight = 1;
};

/// What it cost.
struct evaluation_cost {
  double wall_s = 0;    ///< [s] from begin to end, waits included
  double device_s = 0;  ///< [s] time for which the measuring lock was held
  double waited_s = 0;  ///< [s] time, of `wall_s`, for which other processes held the device
  /// [s] Where the wall time went, as far as the fitness function says: "compile", "calls", ... Parts do not
  /// overlap; what is missing to `wall_s` was not counted.
  std::map<std::string, double> parts_s = {};
};

/// The stage a cascade came to. A later stage contains the earlier ones. An outcome speaks of the stages up
/// to this one alone: what is valid at `built` compiles, and nothing more is known.
enum class evaluation_stage : std::uint8_t { none, built, checked, timed_short, timed_full, confirmed };

inline constexpr std::array<std::string_view, 6> evaluation_stage_names = {
    "none", "built", "checked", "timed_short", "timed_full", "confirmed"};
inline constexpr std::string_view to_string(evaluation_stage s) {
  return evaluation_stage_names[static_cast<std::size_t>(s)];
}
inline constexpr std::optional<evaluation_stage> parse_evaluation_stage(std::string_view name) {
  for (std::size_t i = 0; i < evaluation_stage_names.size(); ++i) {
    if (evaluation_stage_names[i] == name) return static_cast<evaluation_stage>(i);
  }
  return std::nullopt;
}

/// All that is said of a program on a task. `measures` are the descriptors an archive bins by.
struct evaluation {
  kevo::outcome outcome = kevo::outcome::build_failed;
  double speedup = 0;  ///< weighted geometric mean over visible workloads; 0 unless valid and compared
  interval speedup_interval;
  double score =
      0;  ///< what selection maximizes: the speedup, or any finite number of the fitness function's own
  double sol_fraction = 0;  ///< the smallest of the visible workloads; 0 if unknown
  /// How far it came. A valid evaluation without a stage counts as having come as far as was asked.
  evaluation_stage stage = evaluation_stage::none;
  bool cached = false;   ///< taken from the cache; such a time never promotes a champion
  std::string baseline;  ///< name of the baseline
  std::map<std::string, double> other_speedups;  ///< against further baselines, by name
  std::vector<workload_result> workloads;
  std::map<std::string, double> measures;
  std::string
      feedback;  ///< for people and operators: says nothing about hidden workloads but that they failed
  std::vector<std::string> reasons;  ///< short, one per failed check
  evaluation_cost cost;
  std::string device;
  std::string backend;
  std::string protocol;                        ///< version of the measuring protocol
  std::map<std::string, std::string> context;  ///< sandbox layers in force, compiler, flags, ...

  bool valid() const { return outcome == kevo::outcome::valid; }
};

/// The evaluation with its stage: if it is valid and has none, the one that was asked for.
inline evaluation with_stage(evaluation e, evaluation_stage wanted) {
  if (e.valid() && e.stage == evaluation_stage::none) e.stage = wanted;
  return e;
}

}  // namespace kevo
