#pragma once
// One workload of a task: concrete sizes, and whether the task makes sense at them.

#include <functional>
#include <set>
#include <string>
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

/// What a workload's decoder needs of the task besides its meaning.
struct workload_context {
  expression_places places;
  std::set<std::string> generated;  ///< inputs that the task's `generate` names
  /// The bytes of a file that the task names, relative to the task; empty where it may name none.
  std::function<std::string(const std::string& path, const error_place& named)> read;
  /// Whether each input that is kept as it is in a file needs a generator (FlashInfer's Definitions have
  /// none).
  bool strict = true;
  bool makes_inputs = false;  ///< whether the reference has a function that makes inputs (type custom)
};

/// A workload of a task whose axes, tensors, constraints, tolerances and cost are decoded.
/// @throws kevo::error (input) at the key that is wrong
workload decode_workload(settings& one, const task& t, const workload_context& context);

}  // namespace kevo::task_decoding
