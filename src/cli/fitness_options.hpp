#pragma once
// The evaluator of verbs that work without a config: `--set fitness.key=value` says what differs from the
// defaults.

#include <string>
#include <vector>

#include <kevo/registry.hpp>

namespace kevo::cli {

/// The fitness function that `--set fitness.key=value` describes; with its defaults if nothing is said, on
/// the CPU unless the task's reference is in CUDA or Python. `context` must name the task.
/// @throws kevo::error: usage (an assignment that is none), input (keys or values that do not exist)
any_fitness fitness_from_options(const std::vector<std::string>& overrides, const registry& plugins,
                                 const build_context& context);

}  // namespace kevo::cli
