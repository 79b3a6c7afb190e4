#pragma once
// Programs in Python with PyTorch as a kind of programs that a CPU runs (fitness/cpu/program_kind.hpp).

#include <memory>

#include <kevo/fitness/torch.hpp>
#include <kevo/task.hpp>

#include "fitness/cpu/program_kind.hpp"
#include "fitness/torch/python_server.hpp"

namespace kevo::torch {

/// The settings of the bench on which programs of PyTorch are judged.
cpu_settings bench_settings(const torch_settings& settings);

/// The task with a baseline: where it names none (FlashInfer-Bench's definitions do not), the reference as
/// PyTorch runs it.
std::shared_ptr<const task> with_baseline(std::shared_ptr<const task> t);

/// @throws kevo::error (input): a task that programs of PyTorch cannot have
program_kind torch_programs(std::shared_ptr<const task> t, const torch_settings& settings,
                            std::shared_ptr<python_server> server);

}  // namespace kevo::torch
