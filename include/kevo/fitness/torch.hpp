#pragma once
// The fitness function of PyTorch programs: a module (KernelBench's `class ModelNew`) or a function. A
// candidate runs in a Python process of its own in a sandbox. Its outputs are compared with those of the
// task's reference, which another process computes in float64. It is timed against a baseline by a clock
// outside of its process. The defaults of all settings suit a laptop. Compiled: link kevo::kevo.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/fitness/cpu.hpp>
#include <kevo/fitness/cuda.hpp>
#include <kevo/fitness/sandbox.hpp>
#include <kevo/task.hpp>

namespace kevo {

namespace torch {
class python_server;
}

/// Settings of `torch_fitness`.
struct torch_settings {
  /// The device of the tensors: "cpu" or "cuda".
  std::string device = "cpu";
  int gpu = 0;  ///< cuda: number of the device, as the CUDA driver counts
  /// cuda: numbers of several devices that evaluate at the same time (see `cuda_fitness_pool`); an empty list
  /// means all devices. Without a value, only the device `gpu` is used.
  std::optional<std::vector<int>> gpus;
  foreign_processes foreign = foreign_processes::refuse;  ///< cuda: as in cuda_settings
  /// Path of a Python interpreter that has PyTorch, or of a folder of packages that contains PyTorch; empty:
  /// it is searched for.
  std::string python;
  int threads = 1;  ///< maximum number of threads of a candidate, and of threads inside PyTorch
  sandbox_mode sandbox = sandbox_mode::required;  ///< of the processes of candidates
  /// Python needs more time and memory than a shared object. `build_s` is not used.
  cpu_limits limits = {.load_s = 60, .loads_s = 300, .first_call_s = 20, .memory_bytes = 8ULL << 30U};
  timing_settings timing;  ///< how long timing may take, with device "cpu"
  /// The same with device "cuda": processes take longer to start than calls take.
  timing_settings cuda_timing = {.short_pairs = 4,
                                 .pairs = 16,
                                 .confirming_pairs = 16,
                                 .short_s = 1.5,
                                 .full_s = 8,
                                 .target_interval = 0.04};
  /// Folder of cached results, used by kevo only. Empty: results are not cached.
  std::string cache_dir;
  std::string helper;  ///< path of kevo-worker-torch.so; empty: it is searched for
  std::size_t pool_bytes =
      512U << 20U;    ///< maximum size of all generated inputs and expected outputs of a task
  double pool_s = 3;  ///< [s] maximum time of the reference for the inputs of all timed workloads together
  /// Random seed of inputs and parameters, for tests only; without it the seed is secret.
  std::optional<std::uint64_t> seed;
  double promising = 1.0;  ///< as in cpu_settings
  /// With device "cpu": the results of all programs are copied into memory of kevo, as they are where the
  /// kernel does not let kevo read the memory of its child processes. Every time then contains a copy.
  bool copied_results = false;
  bool own_kernel = false;  ///< whether a program that defines no kernel of its own (in Triton) is refused
  /// With device "cuda": a program whose own kernels take less than this share of the device time is refused;
  /// 0 refuses none.
  double own_kernel_share = 0;
  /// With device "cuda": which time `speedup` and `score` are of. "device": what a call takes on the device.
  /// "host": from the call to its synchronized result, so that launches count. Both are measured.
  std::string time = "device";
  /// With device "cpu": the process that has imported PyTorch, for several objects with the same `python`,
  /// `sandbox` and `helper`; importing takes seconds. Null: each object has its own.
  std::shared_ptr<torch::python_server> server = {};
  std::shared_ptr<cuda::shared_pythons> pythons = {};  ///< with device "cuda": as in cuda_settings
};

/// Evaluates programs in Python on one task. Thread-safe. Measuring takes an exclusive lock on its
/// processors.
class torch_fitness {
 public:
  /// Searches for a Python interpreter with PyTorch; does not start it.
  /// @throws kevo::error: input (a task that the backend cannot run), environment (no PyTorch)
  torch_fitness(std::shared_ptr<const task> t, const torch_settings& settings = {});
  torch_fitness(torch_fitness&&) noexcept;
  torch_fitness& operator=(torch_fitness&&) noexcept;
  ~torch_fitness();

  /// Checks and times the program of the request. A failure of the candidate is a value of the result.
  /// @throws kevo::error: input (the reference or a baseline cannot be loaded or is wrong), environment (a
  /// program that is known to work fails, too), interrupted
  evaluation evaluate(const evaluation_request& request);

  /// One line that describes machine and settings.
  std::string describe() const;
  /// The task that programs are evaluated on.
  const kevo::task& subject() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

static_assert(fitness<torch_fitness>);

}  // namespace kevo
