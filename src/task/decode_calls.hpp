#pragma once
// How a function in Python is called, where the inputs in their order are not all that it takes.

#include <string>

#include <kevo/settings_node.hpp>
#include <kevo/task.hpp>

namespace kevo::task_decoding {

/// The list `reference.calls` of a task as JSON text; docs/torch.md describes it. Of several calls, each
/// workload names one by the scalar input `call`. @throws kevo::error (input) for a call that does not have
/// the form, or names a tensor that the task has not
std::string decode_calls(const settings_node& calls, const task& t);

}  // namespace kevo::task_decoding
