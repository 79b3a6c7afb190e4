#pragma once
// What the time goes to in which an evaluation holds the device.

#include <chrono>

namespace kevo::cuda {

/// Of one holder. Written by the thread that holds the device.
struct device_time_spent {
  double kernels_s = 0;  ///< between release and "done" of all calls, candidate's and baseline's
  double calls_s = 0;    ///< of all calls as a whole: contents, poison, kernels, comparison
  double workers_s = 0;  ///< workers started, awaited and ended, and programs loaded into them
  double loads_s = 0;    ///< of these, programs loaded
  double starts_s = 0;   ///< of these, contexts awaited that start
  double ends_s = 0;     ///< of these, contexts awaited that end
  /// Of `calls_s`, the first calls of a process on each workload: host code makes its plans then, and Triton
  /// compiles.
  double first_calls_s = 0;
  /// Of `calls_s`, which has no other parts than these, `first_calls_s`, and what is around the calls:
  double candidate_s = 0;  ///< later calls of the candidate, by the clock that times them
  double trusted_s = 0;    ///< the same of baselines and the empty program
  int calls = 0;
  int processes = 0;  ///< that a program was loaded into
};

/// Adds to `sum` for as long as it lives. [s]
class time_span {
 public:
  explicit time_span(double& sum) : sum_(&sum) {}
  time_span(const time_span&) = delete;
  time_span& operator=(const time_span&) = delete;
  ~time_span() { *sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double* sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kevo::cuda
