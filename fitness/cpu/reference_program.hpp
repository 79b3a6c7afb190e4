#pragma once
// A task's C++ reference as a candidate: honest programs that a tolerance must accept.

#include <string>

#include <kevo/program.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Whether the reference can be computed in float32: real tensors are float32, others integers.
bool computes_in_float32(const task& t);
/// For a task that does not compute in float32.
std::string why_not_float32(const task& t);

/// Whether all tensors have types that C++ has: 16-bit floating-point numbers are words in C++.
bool has_plain_types(const task& t);

/// The reference's own text, computing in float64 or (`in_float`) in float32; its results are rounded to the
/// types of the outputs. The reference must be in C++.
program program_of_reference(const task& t, bool in_float);

}  // namespace kevo
