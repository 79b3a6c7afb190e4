#pragma once
// The fitness function of CUDA programs: built by NVRTC or nvcc, checked and timed on a GPU. Neither is
// needed to compile or link: what is missing on a machine is said when it is needed. Compiled: link
// kevo::kevo.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/fitness/sandbox.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// What a candidate may use.
struct cuda_limits {
  double build_s = 60;                          ///< [s] of one build
  double call_s = 10;                           ///< [s] of one call, at most; usually 50 times the baseline's
  std::uint64_t workspace_bytes = 1ULL << 30U;  ///< all workspaces of a call together
  std::uint64_t memory_bytes = 4ULL << 30U;     ///< of the host, for a hosted program besides its context
  std::uint64_t source_bytes = 1U << 20U;       ///< of all files of a program together
};

/// How long measuring may take, for one workload.
struct cuda_timing {
  int short_blocks = 4;        ///< pairs of the first look
  int full_blocks = 16;        ///< pairs of the last look
  int confirming_blocks = 16;  ///< the same of a confirmation, with two fresh processes for every two pairs
  double short_s = 1.0;        ///< [s] no new block of the first look begins after this
  double full_s = 4.0;         ///< [s] the same for the full timing, from its beginning
  double sustained_s = 0.5;    ///< [s] of the candidate alone after a confirmation; 0: not taken
  double target_interval = 0.02;  ///< timing ends early when the speedup's interval is narrower, relative
  double alpha = 0.01;            ///< the chance that an interval misses, all looks together
};

/// Further conditions of being valid. Each costs time, so that none is on by default.
struct cuda_gates {
  int determinism =
      0;  ///< runs, each in a process of its own, that must give the same bits; below 2: not asked
  bool memcheck = false;   ///< compute-sanitizer finds no bad access on the workload with the least data
  bool racecheck = false;  ///< nor a race in shared memory
  bool profile = false;    ///< no condition: what is timed fully is also profiled
};

/// What a process on the device that is not kevo's means for a measurement.
enum class foreign_processes { refuse, note };

struct cuda_settings {
  int device = 0;                  ///< ordinal, as the driver counts
  std::vector<std::string> flags;  ///< of NVRTC, besides kevo's own
  std::string nvcc;  ///< for hosted programs: name or path; empty: found; "none": none are taken
  sandbox_mode sandbox = sandbox_mode::required;
  cuda_limits limits;
  cuda_timing timing;
  cuda_gates gates;
  std::string cache_dir;       ///< results, builds and ceilings; empty: none are kept on disk
  double pool_fraction = 0.5;  ///< of the free device memory, for the contents of all workloads together
  double promising = 1.0;  ///< timing goes on while the upper end of a look reaches this share of the best
  foreign_processes foreign = foreign_processes::refuse;
  double foreign_s = 10;       ///< [s] how long a measurement waits for foreign processes to go
  bool allow_globals = false;  ///< device heap and managed variables are taken, too
};

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
