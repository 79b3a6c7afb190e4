#pragma once
// What the driver of a run tells its display, several times a second: where the search stands and what runs.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/stop.hpp>

namespace kevo {

/// One stop rule's share of its budget ("evaluations", 0.62).
struct budget_share {
  std::string name;
  double used = 0;  ///< 0..1
};

/// A snapshot. `archive` may be null; it is read during `refresh` alone.
struct run_status {
  kevo::progress progress;
  std::vector<std::string> operator_names;  ///< by operator_index
  std::vector<operator_credit> credits;     ///< by operator_index; empty if unknown
  std::size_t varying = 0;                  ///< variations at work
  std::size_t building = 0;                 ///< evaluations at work that are not measuring
  std::size_t measuring = 0;                ///< evaluations that hold the measuring lock
  std::optional<double> budget_used;        ///< 0..1, of all stop rules together
  std::vector<budget_share> budgets;        ///< of each rule by itself, where the driver knows them
  const any_archive* archive = nullptr;
  double elapsed_s = 0;   ///< [s] wall time of the run, over all its sessions
  bool stopping = false;  ///< asked to stop: waits for what is at work
};

/// What does not change while a run goes on. All of it is for people; any may be empty.
struct run_title {
  std::string run;       ///< name of the run
  std::string folder;    ///< of the run, as the user knows it
  std::string task;      ///< name of the task
  std::string device;    ///< "AMD EPYC 9B14, 1 thread"
  std::string baseline;  ///< what speedups are measured against
  std::string seed;
};

}  // namespace kevo
