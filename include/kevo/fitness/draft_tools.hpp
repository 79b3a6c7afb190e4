#pragma once
// What a fitness function offers to operators that work on drafts, besides evaluations.

#include <functional>
#include <stop_token>
#include <string>

#include <kevo/program.hpp>

namespace kevo {

/// Tools for drafts. The program offers one object as a service (services.hpp); a fitness function that has
/// the tools sets them, and an operator calls them while it works. What they return is text for a reader, and
/// what is wrong with a program is a part of it. All are thread-safe; any may be empty.
struct draft_tools {
  /// Builds and runs a program of the operator's own (its first file has a function `main`) where candidates
  /// run and within their limits, and returns what it printed, cut. With `counters`, also how many
  /// instructions, cycles and cache misses it took, as far as the machine can tell.
  /// @throws kevo::error: environment, interrupted (`stop`)
  std::function<std::string(const program& source, bool counters, const std::stop_token& stop)> run;
  /// Builds a draft and returns the innermost loops of its machine code, with vector width and accesses to
  /// the stack. `function`: only those of functions whose name contains this text.
  /// @throws kevo::error: environment, interrupted (`stop`)
  std::function<std::string(const program& draft, const std::string& function, const std::stop_token& stop)>
      assembly;
};

}  // namespace kevo
