#pragma once
// Workloads of an imported task at sizes that a test can compute.

#include <kevo/task.hpp>

namespace kevo::importing {

/// Elements of inputs and outputs of a workload together, without scalars.
double elements_of(const task& t, const workload& w);

/// Whether an input of the workload comes from a file, so that its size is given.
bool has_contents(const workload& w);

/// The workload with variable axes halved, the one first that matters most, until inputs and outputs have at
/// most `elements` elements or no axis is worth halving. Axes stay at 8 or more and fulfil the constraints.
/// Contents from files have the size of the workload, which stays as it is then.
workload reduced_workload(const task& t, const workload& w, double elements);

}  // namespace kevo::importing
