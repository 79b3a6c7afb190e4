#pragma once
// kevo lab with a config that has `ablation`.

#include "src/cli/command.hpp"
#include "src/lab/ablation.hpp"

namespace kevo::cli {

/// Runs the ablation and prints its table, or one JSON object.
void run_and_print_ablation(const ablation_plan& plan, invocation& shared);

}  // namespace kevo::cli
