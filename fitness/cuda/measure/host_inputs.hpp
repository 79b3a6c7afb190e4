#pragma once
// Inputs that kevo draws on the host and uploads, because the device's process does not draw them: inputs
// from files, inputs that the reference's text makes, generators that the device does not have, and the
// offsets of rows whose columns are drawn.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/oracle/input_maker.hpp"

namespace kevo::cuda {

/// Whether an input of a workload is drawn on the host.
bool drawn_on_host(const task& t, const workload& w, const tensor& input);

/// Whether any input of a workload is.
bool has_host_inputs(const task& t, const workload& w);

/// Draws the host's inputs of one workload, anew for each content, from a secret seed. Not thread-safe.
class host_inputs {
 public:
  /// What one content is given.
  struct drawn {
    variety kind = variety::plain;  ///< for the inputs that the device draws
    std::string bytes;  ///< of all inputs that the host draws, behind each other in the order of the task
  };

  /// @param maker for inputs that the reference's text makes: settings of the process that does; started at
  /// once. The task must outlive this.
  /// @throws kevo::error: input (the function cannot be loaded), environment, interrupted
  host_inputs(const task& t, std::size_t workload, const worker_settings* maker);

  /// The next content. Timed ones are mostly of the task's own distribution, others are varied; of a workload
  /// whose files alternate with generated values, half of the varied ones and some of the timed ones are
  /// generated.
  /// @param number of contents of its kind (timed or varied) that there are
  /// @throws kevo::error: input (the function or a generator fails), interrupted
  drawn next(bool varied, std::size_t number);

 private:
  const task& task_;
  std::size_t workload_;
  rng random_;
  std::unique_ptr<input_maker> maker_;  // null unless the reference's text makes inputs
};

}  // namespace kevo::cuda
