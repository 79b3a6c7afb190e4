#pragma once
// A task as kevo-device knows it: what to draw, which plan gives what is expected, when an output is
// accepted.

#include <kevo/task.hpp>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/cuda/launch/launch_signature.hpp"
#include "fitness/cuda/launch/resolve.hpp"

namespace kevo::cuda {

/// What a reference's launch lines speak of: the inputs as they are, the outputs as float64 (int64 for
/// integers and bool), then the scale tensors as float64.
launch_signature reference_signature(const task& t, const workload& w);

/// The device's limits, as plans need them.
device_facts facts_for_plans(const device_description& device, std::uint64_t workspace_bytes);

/// @param reference the compiled reference; @param lines its launch lines
/// @throws kevo::error (input) if the reference cannot be launched on a workload, or the task needs what the
/// device cannot draw or check
device_task describe_task(const task& t, const compiled_module& reference, const declared_launch& lines,
                          const device_facts& facts);

/// The same for a reference in Python, whose calls are `plans`, one for each workload.
device_task describe_python_task(const task& t, const std::vector<plan>& plans);

/// Bytes of the inputs and outputs of one call.
std::uint64_t call_bytes(const task& t, const workload& w);
/// What the workspaces of a call take at most, wherever they begin. [bytes]
std::uint64_t workspace_bytes(const plan& p);
/// Of its inputs alone.
std::uint64_t input_bytes(const task& t, const workload& w);

/// Whether the programs of a task are in Python, with PyTorch.
bool is_python_task(const task& t);

/// Checks that a task is one that the CUDA backend can run. @throws kevo::error (input)
void require_runnable_on_device(const task& t);

}  // namespace kevo::cuda
