#pragma once
// One workload of a task: concrete sizes, and whether the task makes sense at them.

#include <utility>
#include <vector>

#include <kevo/error.hpp>
#include <kevo/expression.hpp>
#include <kevo/settings.hpp>
#include <kevo/task.hpp>

namespace kevo::task_decoding {

/// Where a task's expressions stand: a workload at which one has no sense says so.
struct expression_places {
  std::vector<error_place> constraints;  ///< of task.constraints, in order
  std::vector<std::pair<expression, error_place>> costs;
};

/// A workload of a task whose axes, tensors, constraints, tolerances and cost are decoded.
/// @throws kevo::error (input) at the key that is wrong
workload decode_workload(settings& one, const task& t, const expression_places& places);

}  // namespace kevo::task_decoding
