#pragma once
// The CPU fitness function: C++ candidates, built and run in a sandbox, checked against a secret oracle and
// timed by the controller's clock against a baseline.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/task.hpp>

#include "fitness/cpu/cpu_settings.hpp"

namespace kevo {

/// Evaluates programs on one task. Thread-safe: builds run in parallel, measuring takes an exclusive lock on
/// its processors and, where they are few, lets builds stand still meanwhile.
class cpu_fitness {
 public:
  /// Nothing is built or run yet. @throws kevo::error: input (a task that the CPU cannot run), environment
  cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings = {});
  cpu_fitness(cpu_fitness&&) noexcept;
  cpu_fitness& operator=(cpu_fitness&&) noexcept;
  ~cpu_fitness();

  /// The cascade. Every failure of the candidate is a value.
  /// @throws kevo::error: input (reference or baseline does not build or is wrong), environment (the canary
  /// fails, too), interrupted
  evaluation evaluate(const evaluation_request& request);

  /// "cpu: AMD EPYC (2 processors), g++ -O3 -march=native, 1 thread, sandbox ..."
  std::string describe() const;
  /// What the program is called with: the prototype of `run`.
  std::string prototype() const;
  const kevo::task& subject() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

static_assert(fitness<cpu_fitness>);

}  // namespace kevo
