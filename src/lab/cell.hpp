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
