#pragma once
// The end of a run, for people and for machines.

#include <string>

#include "src/run/run.hpp"

namespace kevo::cli {

struct invocation;

/// Prints how a run ended and sets the exit code (130 if it was interrupted, 2 if nothing was valid, 3 if
/// `require_confirmed` and there is no confirmed best program). `note` is one more line for people.
void print_outcome(const run_outcome& ended, invocation& shared, const std::string& note = {},
                   bool require_confirmed = false);

}  // namespace kevo::cli
