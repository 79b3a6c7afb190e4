#pragma once
// The suites of `kevo import` besides KernelBench.

#include "src/cli/command.hpp"

namespace kevo::cli {

inline constexpr const char* given_size_only_help =
    "Write tasks without hidden workloads of other sizes, for programs that are made for one size";

/// Adds a subcommand for each of them to `kevo import`.
void add_suite_imports(CLI::App& import, invocation& shared);

}  // namespace kevo::cli
