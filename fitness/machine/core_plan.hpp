#pragma once
// Which processors a run measures on, and how several runs of one machine keep out of each other's way.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "src/base/process/descriptor.hpp"

namespace kevo {

/// The processors of one measurement.
struct core_plan {
  int controller = -1;       ///< of the controller's thread; -1: wherever it is
  std::vector<int> workers;  ///< of the workers, `threads` of them, ascending
  bool shared = false;       ///< too few: controller and worker take turns, and times are coarse
  bool few = false;          ///< builds have no processor of their own and stand still meanwhile
};

/// The processors that this process may use, by physical core: the hardware threads of one core are one
/// element. In the order of their numbers. Where the kernel does not describe the cores, each processor is a
/// core.
std::vector<std::vector<int>> physical_cores();

/// How many runs can measure on these cores at the same time, each with a core for its controller and one for
/// each of its `threads`, while at least two cores are left for builds; at least 1.
std::size_t measuring_places(const std::vector<std::vector<int>>& cores, int threads);

/// The processors of the run at place `place`, counted from 0: controllers are on the first cores, workers on
/// the last ones, at most one processor of each core. Where there are fewer cores than a run needs, hardware
/// threads count as cores.
core_plan plan_cores(const std::vector<std::vector<int>>& cores, int threads, std::size_t place);

/// The plan of a run that is alone on the machine.
core_plan plan_cores(int threads);

/// The processors that a run measures on while this lives. It takes the first place of which no other process
/// has claimed a processor, and claims all processors of those cores. Where none is free, it claims nothing
/// and uses the place that its process number gives; the runs of one place measure in turn (measuring_lock).
/// All objects of one process get the same place, if they ask for the same number of threads.
class claimed_cores {
 public:
  explicit claimed_cores(int threads) : claimed_cores(physical_cores(), threads, "/tmp") {}
  /// @param folder of the lock files, which all processes of the machine must share
  claimed_cores(const std::vector<std::vector<int>>& cores, int threads, const std::string& folder);

  const core_plan& plan() const { return plan_; }
  /// Whether the place is this process's own.
  bool alone() const { return alone_; }

 private:
  friend std::vector<std::shared_ptr<const claimed_cores>> claim_places(
      const std::vector<std::vector<int>>& cores, int threads, std::size_t most, const std::string& folder);
  claimed_cores() = default;

  core_plan plan_;
  bool alone_ = false;
  std::vector<detail::descriptor> claims_;
};

/// Several places of one process, at most `most`: all that no other process has claimed, in their order. If
/// there is none, the one that `claimed_cores` gives.
std::vector<std::shared_ptr<const claimed_cores>> claim_places(const std::vector<std::vector<int>>& cores,
                                                               int threads, std::size_t most,
                                                               const std::string& folder = "/tmp");

/// How many places one process is to measure on at the same time, so that each has a core of its own for its
/// compiler besides those that it measures on; at least 1.
std::size_t places_with_build_core(const std::vector<std::vector<int>>& cores, int threads);

/// The processors of all cores on which none of these places measures: where builds disturb none of them.
std::vector<int> processors_beside(const std::vector<std::vector<int>>& cores,
                                   const std::vector<std::shared_ptr<const claimed_cores>>& places);

}  // namespace kevo
