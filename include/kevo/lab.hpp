#pragma once
// The laboratory (lab): compares search policies on problems whose best solution is known. Every policy runs
// on every seed; such a run is called a cell. The format of lab configs is documented in docs/lab.md.
// Compiled: link kevo::kevo.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/load_config.hpp>
#include <kevo/program.hpp>
#include <kevo/registry.hpp>
#include <kevo/search.hpp>

namespace kevo {

/// One instance of a problem. Each cell needs an instance of its own, because the fitness function counts its
/// measurements and its results depend on that count.
struct lab_instance {
  std::vector<program> seeds;  ///< programs from which a search starts
  any_fitness fitness;
  std::function<double(const program&)> true_value;  ///< speedup over the seed, without noise; 0 unless valid
  double optimum = 1;                                ///< largest possible true value
  std::shared_ptr<const kevo::task> task{};          ///< task that operators see; null: an empty task
};

/// A family of instances, as described by `problem` in a lab config. `instance` may be called from several
/// threads.
struct lab_problem {
  std::string description;  ///< one line for display
  std::string identity;     ///< equal texts mean equal instances; part of the keys of cells
  std::function<lab_instance(std::uint64_t seed)> instance;  ///< makes the instance of a seed
  std::function<void(registry&)> extend;  ///< registers the operators of this problem; may be empty
  /// Whether proposals are those of recorded runs: all operators of a published system then become the one
  /// operator `recorded_proposal`.
  bool proposals_are_recorded = false;
};

/// Unit of budgets, and horizontal axis of curves. `cost` is the simulated time [s] of turns and
/// evaluations, confirmations included.
enum class lab_axis : std::uint8_t { evaluations, proposals, cost };
/// The names of the axes, in the order of `lab_axis`.
inline constexpr std::array<std::string_view, 3> lab_axis_names = {"evaluations", "proposals", "cost"};
/// The name of an axis, as a lab config writes it.
inline constexpr std::string_view to_string(lab_axis axis) {
  return lab_axis_names[static_cast<std::size_t>(axis)];
}

/// The program by which a search is judged: the one that it believes to be the best.
enum class believed_program : std::uint8_t {
  champion,  ///< the last program that became champion by a confirmation
  leader,    ///< the program with the best score, confirmed or not
};

/// A policy: the plug-ins of a search. They are copied for every cell.
struct lab_policy {
  std::string name;
  search_parts parts;  ///< without task, stop rule, store and sinks
  search_settings search;
  std::string identity;  ///< the config of the policy, including defaults; part of the keys of cells
};

/// A comparison of two policies: result of `policy` minus result of `against`, on the same seeds.
struct lab_comparison {
  std::string policy;
  std::string against;
};

/// Everything that a lab consists of, as read from a lab config.
struct lab_plan {
  std::string name;
  std::string output;            ///< folder of the results
  std::size_t seeds = 30;        ///< number of seeds, and so of cells of each policy
  std::uint64_t first_seed = 1;  ///< the other seeds follow it
  std::size_t parallel = 2;      ///< number of cells that run at the same time
  double confidence = 0.95;      ///< confidence level of all intervals
  believed_program believed = believed_program::champion;  ///< the program by which a search is judged
  lab_axis unit = lab_axis::evaluations;                   ///< unit of the budgets
  std::vector<double> budgets;                             ///< increasing; every search runs to the last one
  lab_problem problem;
  std::vector<lab_policy> policies;
  std::vector<lab_comparison> comparisons;
  std::string resolved_config;  ///< the config of the lab as YAML, including defaults
};

/// A change of the believed program: from this point on it has this true value.
struct trace_point {
  std::array<double, 3> spent{};  ///< amounts spent so far, indexed by lab_axis
  double value = 0;               ///< true speedup over the seed
  friend bool operator==(const trace_point&, const trace_point&) = default;
};

/// Result of a cell: one policy on one seed.
struct cell_result {
  content_id key;                   ///< hash of everything that the result depends on
  std::string policy;               ///< name of the policy
  std::uint64_t seed = 0;           ///< seed of the instance and of the search
  double optimum = 1;               ///< best possible speedup over the seed
  std::array<double, 3> spent{};    ///< totals at the end, indexed by lab_axis
  std::uint64_t confirmations = 0;  ///< number of confirmations; in `spent` they count as cost only
  std::uint64_t duplicates = 0;     ///< proposals whose program was known already
  std::uint64_t filtered = 0;       ///< proposals that the proposal filter dropped, and so evaluations saved
  std::uint64_t tokens = 0;         ///< tokens that simulated models read and wrote
  std::uint64_t no_proposals = 0;   ///< turns of operators that proposed nothing
  std::string stopped_by;           ///< reason why the search stopped
  std::vector<trace_point> trace;   ///< one point for each change of the believed program's value
};

/// Results of one policy at one budget, over all seeds. The share of a search is log(true speedup of its
/// believed program) / log(best possible speedup): 0 for the seed (or without a believed program), 1 for the
/// optimum.
struct lab_row {
  std::string policy;
  double budget = 0;          ///< in `lab_plan::unit`
  std::size_t seeds = 0;      ///< number of searches
  estimate mean;              ///< mean of the shares
  estimate median;            ///< median of the shares
  double lower_quartile = 0;  ///< lower quartile of the shares
  double upper_quartile = 0;  ///< upper quartile of the shares
  double speedup = 0;  ///< geometric mean of the true speedups; 0 if a search had no believed program yet
  /// Geometric mean of (best possible speedup / true speedup), 1 for the optimum; infinite if a search had no
  /// believed program yet.
  estimate ratio;
  double optimal = 0;  ///< fraction of the searches with at least 99 % of the best possible speedup
};

/// Differences between the shares of two policies on the same seeds, at one budget.
struct lab_difference {
  lab_comparison pair;
  double budget = 0;                           ///< in `lab_plan::unit`
  std::size_t seeds = 0;                       ///< number of pairs of searches
  estimate mean;                               ///< mean difference
  std::size_t wins = 0, ties = 0, losses = 0;  ///< seeds on which `policy` is better, equal, worse
  double p = 1;                                ///< two-sided p-value of a paired t test
  double p_holm = 1;  ///< p-value adjusted for all comparisons at all budgets of the lab (Holm 1979)
};

/// Shares of one policy over the course of the searches.
struct lab_curve {
  std::string policy;
  lab_axis axis = lab_axis::evaluations;
  /// A point of the curve.
  struct point {
    double at = 0;      ///< position on `axis`
    estimate mean;      ///< mean of the shares
    double median = 0;  ///< median of the shares
  };
  std::vector<point> points;
};

/// The results of a finished lab.
struct lab_results {
  std::vector<lab_row> rows;                ///< one for each policy and budget
  std::vector<lab_difference> differences;  ///< one for each comparison and budget
  std::vector<lab_curve> curves;            ///< one for each axis and policy
};

/// State of a lab at the end of `run_lab`.
struct lab_outcome {
  std::string folder;        ///< `lab_plan::output`
  std::size_t cells = 0;     ///< number of cells of the lab
  std::size_t reused = 0;    ///< cells that an earlier call had finished
  std::size_t finished = 0;  ///< cells that are finished now, including the reused ones
  bool interrupted = false;  ///< ended early; `results` is empty
  lab_results results;
  std::vector<std::string> files;  ///< paths of the files that were written
};

/// Reads a lab config. Relative paths in it start at its folder.
/// @throws kevo::error (input, usage) that names file, line, column and key
lab_plan load_lab(const std::string& path, const config_options& options = {});

/// Runs the missing cells of a lab and writes the results into the folder `plan.output`. Finished cells are
/// kept there and are not run again.
/// @param progress called on this thread a few times a second, and after each finished cell; may be empty
/// @param stop ends the lab early; the outcome is then `interrupted`, and the same call later continues the
/// lab
/// @throws kevo::error: input (a file in the folder is damaged), environment (the folder cannot be written)
lab_outcome run_lab(const lab_plan& plan,
                    const std::function<void(std::size_t finished, std::size_t cells)>& progress = {},
                    const std::stop_token& stop = {});

}  // namespace kevo
