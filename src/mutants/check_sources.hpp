#pragma once
// Whether a task's workloads tell its seeds from programs that differ from them by one mistake.

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/fitness/cpu.hpp>
#include <kevo/task.hpp>

#include "fitness/cpu/program_kind.hpp"

namespace kevo {

/// How many mutants are tried, and for how long.
struct source_check_limits {
  std::size_t mutants = 40;
  double seconds = 30;  ///< after which no further one is begun; 0: any
};

/// Where a mutant differs from its seed.
struct mutant_place {
  std::string file;
  int line = 0;
  std::string kind;
  std::string change;
  std::string before;
  std::string after;
};

/// What became of the mutants of all seeds.
struct source_check {
  std::string not_made;      ///< why there are none; empty if there are
  std::size_t possible = 0;  ///< places and changes that were found
  std::size_t made = 0;      ///< of these, tried: the sum of the next three and of the survivors
  std::size_t not_built = 0;
  std::size_t caught = 0;
  std::size_t equivalent = 0;  ///< the same machine code and constants as the seed's
  /// Every workload accepts them, and their machine code is another than the seed's: the task has a hole, or
  /// they are as right as the seed.
  std::vector<mutant_place> surviving;
  bool out_of_time = false;
};

/// Makes mutants of the seeds, spread evenly over kinds, builds them and checks them on all workloads: of
/// C++ by its syntax, of Python by rules on its text. Failures of mutants are values.
/// @param kind of the programs; null: C++
/// @throws kevo::error as `cpu_fitness::evaluate`
source_check check_sources(const std::shared_ptr<const task>& t, const cpu_settings& settings,
                           const source_check_limits& limits, const std::stop_token& stop = {},
                           const wait_listener& waiting = {},
                           const std::shared_ptr<const program_kind>& kind = nullptr);

/// The mutants of the seeds of a task whose programs only run on a device: made, not tried.
std::vector<mutant_place> list_mutants(const task& t);
/// A line for each.
std::string text_of(const std::vector<mutant_place>& all, std::string_view what);

/// The report for people: a line for each survivor, and one with the counts.
std::string text_of(const source_check& checked);

}  // namespace kevo
