#pragma once
// The suites of `kevo import` besides KernelBench.

#include "src/cli/command.hpp"

namespace kevo::cli {

/// Adds a subcommand for each of them to `kevo import`.
void add_suite_imports(CLI::App& import, invocation& shared);

}  // namespace kevo::cli
