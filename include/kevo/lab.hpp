#pragma once
// The laboratory: search policies compared on problems whose answer is known, every policy on every seed. The
// format of lab configs is documented in docs/lab.md. Compiled: link kevo::kevo.

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

/// One instance. Shared by no two cells: its fitness function counts measurements.
struct lab_instance {
  std::vector<program> seeds;
  any_fitness fitness;
  std::function<double(const program&)> true_value;  ///< speedup over the seed, without noise; 0 unless valid
  double optimum = 1;                                ///< the largest true value there is
};

/// A family of instances, as the `problem` of a lab config says. `instance` may be called from several
/// threads.
struct lab_problem {
  std::string description;  ///< one line for people
  std::string identity;     ///< equal texts, equal instances; for the keys of cells
  std::function<lab_instance(std::uint64_t seed)> instance;
  std::function<void(registry&)> extend;  ///< registers operators that are this problem's own; may be empty
};

/// What a budget counts, and the horizontal axis of a curve.
enum class lab_axis : std::uint8_t { evaluations, proposals, cost };
inline constexpr std::array<std::string_view, 3> lab_axis_names = {"evaluations", "proposals", "cost"};
inline constexpr std::string_view to_string(lab_axis axis) {
  return lab_axis_names[static_cast<std::size_t>(axis)];
}

/// Which program a search is taken to believe best.
enum class belief : std::uint8_t {
  champion,  ///< the last one that a confirmation crowned
  leader,    ///< the one with the best score, confirmed or not
};

/// A policy: the plug-ins of a search, copied for every cell.
struct lab_policy {
  std::string name;
  search_parts parts;  ///< without task, stop rule, store and sinks
  search_settings search;
  std::string identity;  ///< its resolved config
};

/// "`policy` minus `against`, seed by seed".
struct lab_comparison {
  std::string policy;
  std::string against;
};

struct lab_plan {
  std::string name;
  std::string output;
  std::size_t seeds = 30;
  std::uint64_t first_seed = 1;
  std::size_t parallel = 2;  ///< cells at once
  double confidence = 0.95;  ///< of every interval
  belief believed = belief::champion;
  lab_axis unit = lab_axis::evaluations;
  std::vector<double> budgets;  ///< rising; searches run to the last one
  lab_problem problem;
  std::vector<lab_policy> policies;
  std::vector<lab_comparison> comparisons;
  std::string resolved_config;  ///< YAML, with every default
};

/// From here on the program that the search believes best has this true value.
struct trace_point {
  std::array<double, 3> spent{};  ///< by lab_axis
  double value = 0;               ///< true speedup over the seed
  friend bool operator==(const trace_point&, const trace_point&) = default;
};

struct cell_result {
  content_id key;  ///< of everything that the result depends on
  std::string policy;
  std::uint64_t seed = 0;
  double optimum = 1;
  std::array<double, 3> spent{};    ///< at the end
  std::uint64_t confirmations = 0;  ///< evaluations that are not in `spent`, though their cost is
  std::uint64_t duplicates = 0;     ///< proposals of known programs
  std::string stopped_by;
  std::vector<trace_point> trace;  ///< where the value changes
};

/// One policy at one budget, over all seeds. Shares are of the optimum's logarithm (cell.hpp).
struct lab_row {
  std::string policy;
  double budget = 0;
  std::size_t seeds = 0;
  estimate mean;              ///< of shares
  estimate median;            ///< of shares
  double lower_quartile = 0;  ///< of shares
  double upper_quartile = 0;
  double speedup = 0;  ///< geometric mean; 0 if a search believed in nothing
  double optimal = 0;  ///< part of the searches within 1 % of the optimum
};

/// Differences of shares, seed by seed.
struct lab_difference {
  lab_comparison pair;
  double budget = 0;
  std::size_t seeds = 0;
  estimate mean;
  std::size_t wins = 0, ties = 0, losses = 0;
  double p = 1;       ///< of no difference, by a paired t test
  double p_holm = 1;  ///< adjusted for all comparisons of the lab
};

/// One policy over the course of the searches.
struct lab_curve {
  std::string policy;
  lab_axis axis = lab_axis::evaluations;
  struct point {
    double at = 0;
    estimate mean;
    double median = 0;
  };
  std::vector<point> points;
};

struct lab_results {
  std::vector<lab_row> rows;
  std::vector<lab_difference> differences;
  std::vector<lab_curve> curves;
};

/// How a lab ended.
struct lab_outcome {
  std::string folder;
  std::size_t cells = 0;     ///< that the lab has
  std::size_t reused = 0;    ///< that were there before
  std::size_t finished = 0;  ///< by now
  bool interrupted = false;  ///< then there are no results
  lab_results results;
  std::vector<std::string> files;  ///< that were written
};

/// Reads a lab config. Relative paths in it start in its folder.
/// @throws kevo::error (input, usage) that names file, line, column and key
lab_plan load_lab(const std::string& path, const config_options& options = {});

/// Runs what is missing of a lab and writes its results into `plan.output`; finished searches are kept there
/// and are not run again.
/// @param progress called on this thread a few times a second
/// @param stop ends the lab early; the outcome is then `interrupted`, and the same call goes on
/// @throws kevo::error (input, environment)
lab_outcome run_lab(const lab_plan& plan,
                    const std::function<void(std::size_t finished, std::size_t cells)>& progress = {},
                    const std::stop_token& stop = {});

}  // namespace kevo
