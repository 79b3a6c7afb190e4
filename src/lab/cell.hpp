#pragma once
// A cell of a lab: one policy on one instance, run to the largest budget, with its trace.

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>

#include "src/lab/lab_config.hpp"

namespace kevo {

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

/// Equal keys, equal results: of the policy, the problem, the seed, the budget and the version of the lab.
content_id cell_key(const lab_plan& plan, const lab_policy& policy, std::uint64_t seed);

/// Runs one cell on this thread. Time is simulated: the sum of what variations and evaluations cost. Nothing
/// if `stop` was requested before the end.
std::optional<cell_result> run_cell(const lab_plan& plan, const lab_policy& policy, std::uint64_t seed,
                                    const std::stop_token& stop);

/// The true value after `spent` of `axis`; 0 before there is any.
double value_at(const cell_result& cell, lab_axis axis, double spent);

/// A value as the share of the optimum's logarithm: 0 is the seed, 1 the optimum. A search without a belief
/// has 0.
double share_of_optimum(double value, double optimum);

}  // namespace kevo
