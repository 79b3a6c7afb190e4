#pragma once
// Inputs that a Python function makes, which stands in the text of the reference: inputs of the type `custom`
// of SOL-ExecBench. The function is executed where the reference is, in a trusted process of its own.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/worker/session.hpp"

namespace kevo {

/// The name of the function; empty if the task names none.
std::string input_function_of(const task& t);

/// Whether the function makes any input of the workload.
bool has_made_inputs(const workload& w);

/// What the function is told and gives, as a task with the one workload `w`. Its inputs are scalars: a seed,
/// the value of each axis, and the scalar inputs of `t`. Its outputs are the inputs of `t` that are made.
task task_of_made_inputs(const task& t, const workload& w);

/// Makes inputs of one workload. Not thread-safe.
class input_maker {
 public:
  /// Starts the process. Task and workload must outlive this.
  /// @param worker settings of a process that serves `task_of_made_inputs`
  /// @throws kevo::error: input (the function cannot be loaded), environment
  input_maker(const task& t, const workload& w, const worker_settings& worker);

  /// The elements of the made inputs for another seed, by name.
  /// @throws kevo::error: input (the function fails, or gives other shapes or types than the task says; or
  /// nothing would change from call to call), interrupted
  std::map<std::string, std::vector<std::byte>> make(rng& random);

 private:
  std::map<std::string, std::vector<std::byte>> call(rng& random);

  const task& subject_;
  const workload& workload_;
  task made_;
  worker_session session_;
  bool compared_ = false;  // whether two seeds were seen to give different inputs, or need not
};

}  // namespace kevo
