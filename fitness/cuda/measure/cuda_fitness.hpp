#pragma once
// The fitness function of CUDA programs: built by NVRTC, checked and timed on a GPU by the trust rules.

#include <memory>
#include <string>

#include <kevo/evaluate.hpp>
#include <kevo/task.hpp>

#include "fitness/cuda/settings/cuda_settings.hpp"

namespace kevo {

/// Evaluates declared-launch CUDA programs on one device. `evaluate` may be called from several threads:
/// builds run side by side, the device serves one after the other. Nothing of CUDA is needed to make one; the
/// first evaluation starts the device.
class cuda_fitness {
 public:
  /// @throws kevo::error (input) if the task is not one that the CUDA backend can run
  cuda_fitness(std::shared_ptr<const task> t, cuda_settings settings);
  cuda_fitness(cuda_fitness&&) noexcept;
  cuda_fitness& operator=(cuda_fitness&&) noexcept;
  ~cuda_fitness();

  /// @throws kevo::error: environment (no GPU, no NVRTC, a lost device), input (a wrong reference or
  /// baseline), interrupted
  evaluation evaluate(const evaluation_request& request);
  std::string describe() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kevo
