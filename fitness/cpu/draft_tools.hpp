#pragma once
// Tools for whoever writes drafts: programs of their own where candidates run, and the loops of a draft's
// machine code. See <kevo/fitness/draft_tools.hpp>.

#include <stop_token>
#include <string>

#include <kevo/program.hpp>

#include "fitness/cpu/bench.hpp"

namespace kevo {

/// Builds and runs a program alone in a sandbox, on the processors of the measurement, which nothing else
/// uses meanwhile. It sees its own file and the C and C++ libraries; neither a network nor a writable file
/// but those of an empty /tmp, and it cannot start a process.
/// @throws kevo::error: environment, interrupted
std::string run_scratch(test_bench& bench, const program& source, bool counters, const std::stop_token& stop);

/// The innermost loops of a draft's machine code, and what llvm-mca says of the first one.
/// @throws kevo::error: environment, interrupted
std::string assembly(test_bench& bench, const program& draft, const std::string& function,
                     const std::stop_token& stop);

/// What cachegrind prints at its end, in a line; empty if it printed no figures.
std::string cachegrind_line(std::string_view log);

}  // namespace kevo
