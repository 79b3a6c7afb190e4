#pragma once
// Programs of PyTorch on a device: the warm processes from which their processes are forked, what these are
// told, and the parameters that all of them share.

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <boost/json/object.hpp>

#include <kevo/task.hpp>

#include "fitness/cuda/python/shared_pythons.hpp"
#include "fitness/cuda/wire/plan.hpp"
#include "fitness/cuda/worker/process.hpp"
#include "fitness/torch/python_server.hpp"
#include "fitness/torch/sealed_memory.hpp"
#include "fitness/worker/worker_parent.hpp"

namespace kevo::cuda {

/// Whose program a process of Python is to execute.
enum class python_role { reference, baseline, candidate };

/// A call of a program in Python on one workload, in the form of a plan: one step, whose arguments are the
/// buffers in their order, then as 8 bytes each the scalar inputs and the extents of every tensor.
/// @throws kevo::error (input) for an axis without a value, or a tensor of too many extents
plan python_plan(const task& t, const workload& w);

class python_programs {
 public:
  /// Starts the warm processes, which takes seconds, and makes the parameters under a secret seed.
  /// @param shared where the warm processes come from; null: they are started for this object alone
  /// @throws kevo::error: environment (no PyTorch), input (the reference cannot be built), interrupted
  python_programs(std::shared_ptr<const task> t, const python_settings& settings,
                  const device_description& device, shared_pythons* shared, const std::stop_token& stop);

  /// How processes for such programs are started. What it refers to must outlive the workers.
  /// @param concurrent with as many queues to the device as the driver makes by default, for kernels of
  /// several streams. With one, a context starts in less than half the time.
  worker_options workers_for(python_role role, bool concurrent);
  /// What a process is told of its program: bytes for device_client::load_object.
  /// @param compile by torch.compile, which a baseline may ask for
  std::string object_of(const program& source, python_role role, bool compile = false) const;
  /// The same for a candidate whose process says what share of the device's time its kernels take.
  std::string watched_object_of(const program& source) const;
  /// The same without a program: a process that has it makes calls of nothing.
  std::string nothing() const;
  /// Has the extensions and the kernels of Triton built that a candidate asks for, without the device.
  /// Thread-safe.
  /// @return why an extension cannot be built; empty where all are, or where it is not known yet
  /// (building_pass.hpp)
  /// @throws kevo::error (environment, interrupted)
  std::string build_ahead(const program& source, const std::stop_token& stop);
  /// Settings of the process in which a function of the reference's text makes the inputs of a workload
  /// (fitness/oracle/input_maker.hpp): on the host, without a device, forked from a server of its own. What
  /// they refer to must not outlive this. Not thread-safe. @throws kevo::error (environment)
  worker_settings input_maker_for(std::size_t workload);
  std::string reference_object() const { return object_of(task_->reference->source, python_role::reference); }

  /// What results depend on.
  std::string identity() const;
  std::string version() { return warm_->trusted().facts().version; }
  const std::string& python() const { return warm_->tools().python; }

  /// Memory of the parameters of the reference, which baselines and candidates have as well. [bytes]
  std::uint64_t parameter_bytes() const { return parameters_ ? parameters_->bytes() : 0; }

 private:
  // Whether the process that builds ahead is there; if not, it starts beside what comes.
  bool ahead_is_there();
  boost::json::object told_of(const program& source, python_role role) const;

  std::shared_ptr<const task> task_;
  python_settings settings_;
  std::string device_;         // its uuid
  boost::json::object facts_;  // what programs ask of it, under PyTorch's names
  std::shared_ptr<warm_pythons> warm_;
  std::mutex starting_ahead_;
  std::future<void> ahead_starts_;  // the process that builds ahead; invalid: nobody has needed it yet
  bool has_convolutions_ = false;   // whose library takes long to start
  std::uint64_t seed_ = 0;
  std::unique_ptr<torch::python_server> input_makers_;  // null until inputs are made
  std::optional<torch::sealed_memory> parameters_;
};

}  // namespace kevo::cuda
