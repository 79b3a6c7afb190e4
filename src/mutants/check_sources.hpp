#pragma once
// Whether a task's workloads tell its seeds from programs that differ from them by one mistake.

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/fitness/cpu.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// How many mutants are tried, and for how long.
struct source_check_limits {
  std::size_t mutants = 40;
  double seconds = 30;  ///< after which no further one is begun; 0: any
};

/// A mutant that every workload accepts and whose machine code is another than that of its seed: the task
/// has a hole, or the mutant is as right as the seed.
struct surviving_mutant {
  std::string file;
  int line = 0;
  std::string kind;
  std::string change;
  std::string before;
  std::string after;
};

/// What became of the mutants of all seeds in C++.
struct source_check {
  std::string not_made;      ///< why there are none; empty if there are
  std::size_t possible = 0;  ///< places and changes that were found
  std::size_t made = 0;      ///< of these, tried: the sum of the next three and of the survivors
  std::size_t not_built = 0;
  std::size_t caught = 0;
  std::size_t equivalent = 0;  ///< the same machine code and constants as the seed's
  std::vector<surviving_mutant> surviving;
  bool out_of_time = false;
};

/// Makes mutants of the seeds, spread evenly over kinds, builds them and checks them on all workloads.
/// Failures of mutants are values. @throws kevo::error as `cpu_fitness::evaluate`
source_check check_sources(const std::shared_ptr<const task>& t, const cpu_settings& settings,
                           const source_check_limits& limits, const std::stop_token& stop = {},
                           const wait_listener& waiting = {});

/// The report for people: a line for each survivor, and one with the counts.
std::string text_of(const source_check& checked);

}  // namespace kevo
