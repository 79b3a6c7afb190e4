#pragma once
// Warm processes of Python for the tasks of a program: importing PyTorch and Triton takes seconds, and a
// suite has a hundred tasks.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/torch/compile_server.hpp"
#include "fitness/torch/python_server.hpp"

namespace kevo::cuda {

/// How they are started.
struct python_settings {
  std::string python;  ///< as in cuda_settings
  sandbox_mode sandbox = sandbox_mode::required;
  std::uint64_t memory_bytes = 8ULL << 30U;  ///< of the host, for a candidate
  std::string nvcc;  ///< absolute path, for extensions in CUDA; empty: they cannot be compiled
};

/// The processes from which those of programs are forked, for one device: one for candidates, one for what is
/// trusted (reference, baselines), so that neither files nor memory are common to both, and one without the
/// device. Thread-safe.
class warm_pythons {
 public:
  /// Searches for PyTorch; the processes start when they are first needed. @throws kevo::error (environment)
  warm_pythons(const python_settings& settings, const device_description& device);

  torch::python_server& candidates() { return candidates_; }
  torch::python_server& trusted() { return trusted_; }
  /// Without a device, for what can be done with candidates before they have it.
  torch::python_server& ahead() { return ahead_; }
  const python_tools& tools() const { return tools_; }
  /// A socket to the process that compiles for candidates; another such process is started if it has ended.
  /// @throws kevo::error (environment)
  detail::descriptor connect_compiler();

 private:
  python_tools tools_;
  sandbox_mode sandbox_;
  torch::python_server candidates_;
  torch::python_server trusted_;
  torch::python_server ahead_;
  torch::compile_settings compiling_;
  std::mutex connecting_;
  std::unique_ptr<torch::compile_server> compilers_;
};

class shared_pythons {
 public:
  /// Those of a device under these settings, made if there are none yet. @throws kevo::error (environment)
  std::shared_ptr<warm_pythons> of(const python_settings& settings, const device_description& device);

 private:
  std::mutex guard_;
  std::map<std::string, std::shared_ptr<warm_pythons>> all_;
};

}  // namespace kevo::cuda
