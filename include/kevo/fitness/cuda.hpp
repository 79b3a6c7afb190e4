#pragma once
// The fitness function of programs in CUDA and Triton: it builds them with NVRTC, nvcc or Triton, and checks
// and times them on a GPU. Programs that use it compile and link without CUDA; an evaluation reports what is
// missing on the machine. Compiled: link kevo::kevo.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/fitness/sandbox.hpp>
#include <kevo/fitness/timing.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Limits of a candidate.
struct cuda_limits {
  double build_s = 60;  ///< [s] maximum time of a build
  /// [s] Upper bound of the time limit of a call, which is 50 times the baseline's time but at least 1.5 s.
  /// The limit is never less than twice the baseline's time.
  double call_s = 10;
  std::uint64_t workspace_bytes = 1ULL << 30U;  ///< maximum size of all workspaces of a call together
  /// Maximum host memory of the process of a hosted program, in addition to what a CUDA context needs.
  std::uint64_t memory_bytes = 4ULL << 30U;
  std::uint64_t source_bytes = 1U << 20U;  ///< maximum size of all files of a program together
};

/// Additional checks of a candidate (gates: a candidate that fails one is not valid). Each costs time, so all
/// are off by default.
struct cuda_gates {
  int determinism = 0;  ///< number of runs, each in its own process, whose outputs must be identical bit for
                        ///< bit; 0 or 1 disables it
  bool memcheck =
      false;  ///< compute-sanitizer must find no invalid access on the workload with the least data
  bool racecheck = false;  ///< compute-sanitizer must find no race in shared memory on that workload
  bool profile = false;    ///< profile candidates that are timed fully; this cannot make a candidate invalid
};

/// What happens if another process than those of kevo uses the device during a measurement. `refuse`: the
/// measurement waits, and after `cuda_settings::foreign_s` it throws kevo::error (environment). `note`: the
/// measurement goes on, and the evaluation notes the other process.
enum class foreign_processes { refuse, note };

namespace cuda {
struct shared_compilers;
class shared_pythons;
}  // namespace cuda

/// Settings of `cuda_fitness`.
struct cuda_settings {
  int device = 0;                  ///< number of the device, as the CUDA driver counts
  std::vector<std::string> flags;  ///< options of NVRTC in addition to kevo's own
  /// Name or path of nvcc. It builds hosted programs, and programs that choose it by a `build` annotation.
  /// Empty: it is searched for. "none": such programs are refused.
  std::string nvcc;
  /// Path of a Python that has Triton, or of a folder of packages that contains Triton; it compiles programs
  /// in Triton. Empty: it is searched for when the first such program is built. If the reference of the task
  /// is in Python, it must have PyTorch instead, which runs the programs.
  std::string python;
  sandbox_mode sandbox = sandbox_mode::required;  ///< of builds and of the processes of candidates
  cuda_limits limits;                             ///< time and memory of a candidate
  /// How long timing may take. A confirmation has new processes for every two pairs.
  timing_settings timing = {.short_pairs = 4,
                            .pairs = 16,
                            .confirming_pairs = 16,
                            .short_s = 1,
                            .full_s = 4,
                            .target_interval = 0.02};
  cuda_gates gates;       ///< additional checks of a candidate
  std::string cache_dir;  ///< folder of cached results, builds and measured limits of the device; empty: none
  double pool_fraction =
      0.5;  ///< fraction of the free device memory used for the inputs of all workloads together
  /// Timing continues after a look only if the upper end of the interval is at least this fraction of the
  /// champion's speedup.
  double promising = 1.0;
  foreign_processes foreign = foreign_processes::refuse;  ///< what happens if others use the device
  /// [s] Maximum time for which a measurement waits until other processes have left the device.
  double foreign_s = 10;
  bool own_kernel = false;  ///< whether PyTorch programs that define no kernel of their own are refused
  /// PyTorch programs whose own kernels take less than this share of the device time are refused; 0 refuses
  /// none.
  double own_kernel_share = 0;
  /// Whether the time from a call to its synchronized result (`workload_result::host`) of programs with host
  /// code is measured besides the device time.
  bool both_times = false;
  bool host_time = false;      ///< with `both_times`: whether speedup and score are those of the host times
  bool allow_globals = false;  ///< whether candidates may use the device heap and managed variables
  /// Compilers that several objects share; null: each has its own. See `cuda_fitness_pool`.
  std::shared_ptr<cuda::shared_compilers> compilers = {};
  /// Python processes that have imported PyTorch, for objects of several tasks: importing takes seconds.
  /// Null: each object has its own. See `make_shared_pythons`.
  std::shared_ptr<cuda::shared_pythons> pythons = {};
};

/// For `cuda_settings::pythons` and `torch_settings::pythons`. Starts nothing. Processes are started for each
/// device and each set of settings when they are first needed, and end with the last owner. Thread-safe.
std::shared_ptr<cuda::shared_pythons> make_shared_pythons();

/// Evaluates programs in CUDA and Triton on one device. `evaluate` may be called from several threads: builds
/// run in parallel, and the device serves one evaluation at a time. Constructing an object needs no CUDA; the
/// first evaluation starts the device.
class cuda_fitness {
 public:
  /// Checks the task; needs no GPU.
  /// @throws kevo::error (input) if the task is not one that the CUDA backend can run
  cuda_fitness(std::shared_ptr<const task> t, cuda_settings settings);
  cuda_fitness(cuda_fitness&&) noexcept;
  cuda_fitness& operator=(cuda_fitness&&) noexcept;
  ~cuda_fitness();

  /// Builds, checks and times the program of the request. A failure of the candidate is a value of the
  /// result.
  /// @throws kevo::error: environment (no GPU, no NVRTC, a lost device), input (a wrong reference or
  /// baseline), interrupted
  evaluation evaluate(const evaluation_request& request);
  /// One line that describes the device and the settings.
  std::string describe() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Makes a fitness function that evaluates programs on several devices at the same time. Each device has a
/// trusted process and workers of its own and evaluates one program at a time; a device that is lost is no
/// longer used. The devices share the compilers. A champion is confirmed on two devices. `settings.device` is
/// ignored.
/// @param devices numbers of the devices; empty: all that the driver shows
/// @throws kevo::error (input) if the task is not one that the CUDA backend can run
any_fitness cuda_fitness_pool(std::shared_ptr<const task> t, cuda_settings settings,
                              std::vector<int> devices);

}  // namespace kevo
