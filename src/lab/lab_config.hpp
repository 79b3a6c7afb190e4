#pragma once
// A lab config, decoded: policies, seeds and budgets on one family of problems. The format is documented in
// docs/lab.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/search.hpp>

#include "src/lab/problem.hpp"
#include "src/run/run_plan.hpp"

namespace kevo {

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

/// Decodes a lab config. Throws kevo::error (input) that names file, line, column and key.
lab_plan plan_lab(const config_source& config);

}  // namespace kevo
