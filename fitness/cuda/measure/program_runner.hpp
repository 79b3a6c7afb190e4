#pragma once
// One program on the device: worker processes that never see a content twice, and the verdict on every call.

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/worker/process.hpp"

namespace kevo::cuda {

/// Why a call is not valid.
struct gpu_failure {
  kevo::outcome outcome = kevo::outcome::incorrect;
  std::string reason;    ///< short; names no sizes or numbers: may be told about hidden workloads, too
  std::string detail;    ///< for visible workloads: places and numbers
  bool machine = false;  ///< may be the machine's fault: ask the canary first
};

/// What one verified measurement took.
struct gpu_time {
  double event_ns = 0;    ///< of all its calls, by the worker's events
  double outside_ns = 0;  ///< of all its calls, by the trusted clock
  double clock_mhz = 0;
  int calls = 1;
  bool unblocked = false;
  std::optional<gpu_failure> failure;
};

/// Workers of one arena, one at a time; the next one is started ahead.
class worker_source {
 public:
  worker_source(device_client& device, worker_options options, std::uint64_t arena_bytes, bool ahead);

  /// Ends the worker in use and takes a fresh one. @throws kevo::error (environment) if none starts
  void fresh();
  /// Ends the worker in use.
  void end();
  /// Waits until neither the one that was started ahead nor the one that ended last makes work for the
  /// device.
  void settle();
  bool running() const { return current_ != nullptr; }
  std::uint32_t arena() const { return arena_.number; }
  device_client& device() const { return *device_; }
  /// How the worker in use ended, if it has.
  std::string death() const;

 private:
  std::unique_ptr<worker_process> start() const;

  device_client* device_;
  worker_options options_;
  device_client::opened_arena arena_;
  bool ahead_;
  std::unique_ptr<worker_process> current_;
  std::unique_ptr<worker_process> spare_;
  std::future<void> leaving_;  // a context takes a while to go
};

/// How many contents there are of each workload.
struct content_counts {
  std::uint32_t timed = 0;
  std::uint32_t varied = 0;
};

/// Runs a compiled program by its plans. One thread at a time.
class program_runner {
 public:
  program_runner(std::shared_ptr<const task> t, worker_source& workers, compiled_module code,
                 std::vector<plan> plans, std::vector<content_counts> contents, rng random);
  program_runner(program_runner&&) = default;

  /// A call of a varied content (correctness); the process must not have seen it.
  gpu_time check(std::size_t workload, std::uint32_t varied, std::chrono::nanoseconds limit);
  /// `count` calls of contents that this process has not seen, as one measurement; a fresh process where
  /// there are none.
  gpu_time time(std::size_t workload, std::uint32_t count, bool cold, std::chrono::nanoseconds limit);
  /// Contents of a workload that this process has not seen.
  std::uint32_t unseen(std::size_t workload) const;
  /// Ends the process; the next call starts a fresh one.
  void restart();
  worker_source& workers() { return *workers_; }

 private:
  std::optional<gpu_failure> start();
  gpu_time call(std::size_t workload, std::vector<std::uint32_t> contents, bool timed, bool cold,
                std::chrono::nanoseconds limit);
  std::optional<gpu_failure> verdict(std::size_t workload, const call_result& result) const;

  std::shared_ptr<const task> task_;
  worker_source* workers_;
  compiled_module code_;
  std::vector<plan> plans_;
  std::vector<content_counts> contents_;
  rng random_;
  bool loaded_ = false;
  std::set<std::pair<std::size_t, std::uint32_t>> seen_;
};

}  // namespace kevo::cuda
