#pragma once
// `check_task` by whole programs: wrong ones are made around the reference's own text, and judged as
// candidates are. For devices, where what is expected never leaves the trusted process.

#include <memory>
#include <stop_token>
#include <string>

#include <kevo/fitness/torch.hpp>
#include <kevo/task.hpp>

#include "fitness/cpu/task_check.hpp"

namespace kevo::torch {

/// A program that computes what the reference does and gives back something else.
/// @param change statements of Python that make `z`, of the shape and type of the right output `y`; `x` is
/// the first input, `self.last` the output of the call before
/// @param tells it raises an exception where z differs from y, instead of giving z back
program changed_reference(const task& t, const std::string& change, bool tells);

/// The same controls as `check_task`, each in a process of its own. @throws kevo::error as torch_fitness does
task_report check_by_programs(const std::shared_ptr<const task>& t, const torch_settings& settings,
                              std::stop_token stop = {});

/// Why the reference in the types of the task, judged as a candidate, is not accepted; empty if it is. Names
/// the workload. @throws kevo::error as torch_fitness does, but for what is wrong with reference or baselines
std::string refusal_of_reference(const std::shared_ptr<const task>& t, const torch_settings& settings,
                                 const std::stop_token& stop = {});

}  // namespace kevo::torch
