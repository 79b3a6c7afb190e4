#pragma once
// A fitness function that judges many programs at once, for reward functions of trainers.

#include <cstddef>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>
#include <kevo/settings_node.hpp>
#include <kevo/task.hpp>

namespace kevo::python {

/// The fitness function that the section `fitness` of a config describes, for one task. Without a key
/// `backend`, that of the task's language.
/// @throws kevo::error (input) for unknown keys and wrong values
any_fitness fitness_from(settings_node section, const std::shared_ptr<const task>& subject,
                         std::size_t builds);

/// The fitness function of Python's `Evaluators`; nothing for other objects. The caller has the interpreter's
/// lock.
/// @throws kevo::error (usage) if they are closed
std::optional<any_fitness> judge_of(pybind11::handle value);

/// How a batch is judged.
struct batch_settings {
  evaluation_stage wanted = evaluation_stage::timed_full;
  double best_speedup = 0;
  bool fresh = false;
  std::size_t workers = 2;  ///< evaluations at once
};

/// Judges programs on `workers` threads, the same program once. What had not been judged when `stop` was
/// requested is nothing. An annotation that cannot be read is a failed build.
/// @throws kevo::error (input, environment) for what is no fault of a program, when all threads have ended
std::vector<std::optional<evaluation>> evaluate_all(const any_fitness& judge,
                                                    const std::vector<program>& programs,
                                                    const batch_settings& how, const std::stop_token& stop);

}  // namespace kevo::python
