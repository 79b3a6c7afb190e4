#pragma once
// How a task's `run` and `reference` are called: the trusted entry that is compiled with each, and the
// buffers of a call.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/task.hpp>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/program_entry.hpp"
#include "fitness/worker/arena.hpp"

namespace kevo {

/// What a candidate is called by: declares the one `run` that the task accepts (another one is a compile
/// error that names both), and the entry that unpacks the arguments.
program_entry candidate_entry(const task& t);
/// The same for the reference: float64, int64, scale tensors after the outputs.
program_entry reference_entry(const task& t);

/// "extern \"C\" void run(const float* A, float* C, int64_t M)": for messages.
std::string prototype(const task& t);

/// Names of the scale tensors that the reference writes, in order of the outputs that use them. An output's
/// own name is not among them: then |expected| is the scale.
std::vector<std::string> scale_tensors(const task& t);

/// Elements of a tensor in a workload. @throws kevo::error (input) for an extent below 0 or an overflow
std::size_t element_count(const tensor& t, const std::map<std::string, std::int64_t>& axes);

/// Buffers of a call of the candidate: inputs that are tensors, then outputs.
std::vector<buffer_shape> candidate_buffers(const task& t, const workload& w);
/// Buffers of a call of the reference: the same as 64-bit elements, then the scale tensors.
std::vector<buffer_shape> reference_buffers(const task& t, const workload& w);

/// The variable axes in file order. @throws kevo::error (input) naming an axis without a value
std::vector<std::int64_t> axis_arguments(const task& t, const workload& w);

/// Extents of the tensors among the inputs, then those of the outputs, one after the other: what calls of
/// programs in Python are given in place of the axes.
std::vector<std::int64_t> extent_arguments(const task& t, const workload& w);

/// Checks that a task is one the CPU can run: a native reference (or one in Python, for `language` "python"),
/// known dtypes, few enough arguments, inputs of known kinds. @throws kevo::error (input)
void require_runnable(const task& t, std::string_view language = "cpp");

}  // namespace kevo
