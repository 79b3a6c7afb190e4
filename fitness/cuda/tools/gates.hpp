#pragma once
// Optional gates that NVIDIA's tools keep: compute-sanitizer over one call of a candidate, and a profile of
// another by Nsight Compute.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <kevo/task.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cuda/device/protocol.hpp"
#include "fitness/cuda/settings/cuda_settings.hpp"
#include "fitness/cuda/tools/reports.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/plan.hpp"

namespace kevo::cuda {

/// One call of a program on a workload of the task.
struct gated_call {
  const compiled_module* code = nullptr;
  const plan* what = nullptr;
  std::size_t workload = 0;
};

/// The tools that a config asks for. One thread at a time, while it holds the device.
class device_gates {
 public:
  /// Finds the tools. @throws kevo::error (environment) naming a checker that is asked for and not there; a
  /// profiler may be missing
  device_gates(std::shared_ptr<const task> t, const cuda_gates& gates, sandbox_mode sandbox);

  /// A program that is known to be good under every checker that is asked for, before anything is judged.
  /// @throws kevo::error (environment) if a checker does not work here; (input) if it finds errors
  void try_out(const gated_call& baseline, const device_description& device, const std::stop_token& stop);

  /// Whether every checker that is asked for comes to its end without an error; else the failure, with the
  /// checker's first report. A checker that fails otherwise, on a candidate and not on the baseline, is the
  /// candidate's failure. @throws kevo::error (environment, interrupted)
  std::optional<call_failure> check(const gated_call& candidate, const device_description& device,
                                    const std::stop_token& stop);

  /// "memcheck, racecheck"; empty if none is asked for.
  std::string checkers() const;
  bool profiles() const { return gates_.profile; }
  /// Figures of one call; where there are none, `missing` says why.
  profile_figures profile(const gated_call& candidate, const device_description& device,
                          const std::stop_token& stop);

  /// "memcheck, racecheck, profile": what is asked for; empty if nothing is.
  std::string describe() const;

 private:
  std::optional<call_failure> check_with(const std::string& tool, const gated_call& call,
                                         const device_description& device, const std::stop_token& stop);
  std::string file_of(const gated_call& call) const;

  std::shared_ptr<const task> task_;
  cuda_gates gates_;
  sandbox_mode sandbox_;
  std::vector<std::string> checkers_;  // "memcheck", "racecheck"
  std::string sanitizer_;
  std::string profiler_;
  std::optional<compiled_module> known_code_;  // of the baseline
  std::optional<plan> known_plan_;
  std::size_t known_workload_ = 0;
};

}  // namespace kevo::cuda
