#pragma once
// What the driver of a run tells its display, several times a second: where the search stands and what runs.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/evaluate.hpp>
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
  double elapsed_s = 0;  ///< [s] run time, over all sessions: `ledger::elapsed_s`
  /// The process that the run waits for at present because it measures; nothing if there is none
  std::optional<device_holder> waits_for{};
  double waits_s = 0;     ///< [s] for how long the present wait has lasted
  bool stopping = false;  ///< asked to stop: waits for what is at work
};

/// Whether a wait has lasted long enough to be told of.
inline bool is_waiting(const run_status& now) {
  return now.waits_for && now.waits_s >= 1;
}

/// The length of a wait of `lasted_s` seconds: "12 s", from two minutes on "3 min".
inline std::string wait_length(double lasted_s) {
  const auto seconds = static_cast<long>(lasted_s);
  return seconds < 120 ? std::to_string(seconds) + " s" : std::to_string(seconds / 60) + " min";
}

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
