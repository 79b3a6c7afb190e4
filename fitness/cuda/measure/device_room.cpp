#include "fitness/cuda/measure/device_room.hpp"

#include <string>

#include <fmt/format.h>

#include "fitness/cuda/measure/gpu_bench.hpp"

namespace kevo::cuda {

bool speaks_of_room(const error& failure) {
  const std::string& message = failure.message();
  return failure.code() == error_code::environment && (message.find("OUT_OF_MEMORY") != std::string::npos ||
                                                       message.find(found_no_memory) != std::string::npos);
}

call_failure left_no_room(const error& failure) {
  return {.outcome = outcome::crashed,
          .reason = "left no memory on the device for the baseline",
          .detail = failure.message(),
          .again = true,
          .room = true};
}

// As a candidate, and on visible workloads a baseline beside it, as when they are timed. The candidate, which
// is tried again, has no more memory than this.
void gpu_bench::require_room(std::size_t workload) {
  const auto known = baseline_as_candidate();
  if (!known.ok) return;
  const sparing memory(*this);
  auto program = run_candidate(known);
  const auto limit = first_call_limit(workload, known.kind);
  auto failure = program.check(workload, 0, limit).failure;
  if (!failure && !task_->workloads[workload].hidden)
    failure = baseline().usual.runner->check(workload, 0, limit).failure;
  program.restart();
  if (!failure) return;
  throw error(error_code::environment,
              fmt::format("the device has no room for a candidate on workload '{}': the baseline fails as "
                          "well when it is run "
                          "like a candidate, beside the data of the task ({}: {})",
                          task_->workloads[workload].uuid, failure->reason, failure->detail),
              {.file = task_->file, .key = "workloads"},
              "use smaller workloads, a device with more memory, or end other programs on the device");
}

}  // namespace kevo::cuda
