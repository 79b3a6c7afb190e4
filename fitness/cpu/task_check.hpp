#pragma once
// Whether a task can tell right from wrong: mutants that must fail somewhere, honest programs that must pass
// everywhere.

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/task.hpp>

#include "fitness/cpu/cpu_settings.hpp"
#include "fitness/cpu/program_kind.hpp"

namespace kevo {

/// One control and what became of it.
struct control_result {
  std::string name;
  bool honest = false;  ///< must pass every workload; otherwise it must fail at least one
  bool ok = false;
  bool skipped = false;   ///< does not apply to this task; `detail` says why. Counts as ok
  std::string detail;     ///< for the task's author: names hidden workloads, too
  bool too_slow = false;  ///< honest, and not ok because it did not end in time
};

struct task_report {
  std::vector<control_result> controls;
  /// What to change, in a sentence or two, where a control is not ok; empty if all are.
  std::string advice;
  /// Why a program that ignores its inputs is right, in a sentence that names the outputs: an error of the
  /// task, whatever the controls say. Empty if the result depends on the inputs.
  std::string fixed_result;
  bool fixed_exactly = false;  ///< that result is the same bit for bit, whatever the tolerance
  bool ok() const;
};

/// What to do about a task whose result does not depend on its inputs, after the sentence that says so.
std::string fixed_result_advice(const std::string& sentence);

/// Of the mutants of a report, how many there are, how many could be tried, and how many of these failed
/// somewhere, as they must. What is skipped is the right answer, or does not apply to the task.
struct mutant_counts {
  std::size_t made = 0;
  std::size_t tried = 0;
  std::size_t refused = 0;
  /// Whether the mutants say anything of the task: at least half could be tried.
  bool enough() const { return tried > 0 && 2 * tried >= made; }
};
mutant_counts count_mutants(const task_report& report);

/// What to change about the task of a report that is not ok; empty if it is.
std::string advice_for(const task_report& report);

/// What a report means, in a sentence or two: that the task separates correct from incorrect programs, that
/// it does not and why, or that too few mutants could be tried to say so.
std::string conclusion_of(const task_report& report);

/// Mutants are outputs made from the oracle's own: zeros, a constant, the mean, a copied input, the first
/// nine tenths, the right values rounded to the next lower precision, the result of another content. Honest
/// controls are the task's seeds and, where all real tensors are float32, the reference computed in float32.
/// A mutant that is the right answer on every workload (the mean of one element) is skipped. Where a baseline
/// is not accepted, the report says whether the tolerance is to blame: then results that are rounded once to
/// the type of the output, or the reference computed in float32, are not accepted either.
/// @throws kevo::error as cpu_fitness does: input (a wrong reference), environment, interrupted
/// @param kind of the programs; null: C++. Of other kinds the first baseline is the honest control besides
/// the seeds
/// @param waiting told of the processes that are waited for, as in an `evaluation_request`; may be empty
task_report check_task(const std::shared_ptr<const task>& t, const cpu_settings& settings,
                       std::stop_token stop = {}, const std::shared_ptr<const program_kind>& kind = nullptr,
                       const wait_listener& waiting = {});

}  // namespace kevo
