#pragma once
// A lab config, decoded: policies, seeds and budgets on one family of problems. The format is documented in
// docs/lab.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/lab.hpp>

#include "src/lab/problem.hpp"
#include "src/run/run_plan.hpp"

namespace kevo {

/// Decodes a lab config. `known`: the plug-ins that it may name; null: those that kevo ships. Throws
/// kevo::error (input) that names file, line, column and key.
lab_plan plan_lab(const config_source& config, const registry* known = nullptr);

}  // namespace kevo
