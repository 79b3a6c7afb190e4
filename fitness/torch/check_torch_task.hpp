#pragma once
// `check_task` for tasks whose programs are in Python.

#include <memory>
#include <stop_token>

#include <kevo/fitness/torch.hpp>
#include <kevo/task.hpp>

#include "fitness/cpu/task_check.hpp"
#include "fitness/torch/python_server.hpp"

namespace kevo::torch {

/// What the programs of a task on a CPU are built and run by.
struct torch_programs_of {
  std::shared_ptr<const task> whole;  ///< with a baseline
  cpu_settings settings;
  std::shared_ptr<const program_kind> kind;
};

/// @param server to use; null: one is started. @throws kevo::error as torch_fitness does
torch_programs_of programs_on_cpu(const std::shared_ptr<const task>& t, const torch_settings& settings,
                                  std::shared_ptr<python_server> server = nullptr);

/// Mutants as for C++; honest are the first baseline and the seeds.
/// With another device than "cpu" by whole programs (check_by_programs.hpp), without `server`.
/// @param server to use; null: one is started. @throws kevo::error as torch_fitness does
task_report check_torch_task(const std::shared_ptr<const task>& t, const torch_settings& settings,
                             std::shared_ptr<python_server> server = nullptr, std::stop_token stop = {});

}  // namespace kevo::torch
