#pragma once
// The search for a program for one task of a suite.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <kevo/program.hpp>

#include "src/suite/suite_plan.hpp"

namespace kevo {

struct evolved_program {
  std::shared_ptr<const program> best;  ///< null if no candidate was confirmed
  std::string folder;                   ///< of the run
  std::string reason;                   ///< why there is none
  bool interrupted = false;
};

struct evolution_request {
  const suite_task* task = nullptr;
  std::string folder;  ///< of the run; one that was begun there is continued
  std::optional<std::int64_t> device;
  std::stop_token graceful_stop;
  std::stop_token immediate_stop;
  std::function<void(const std::string&)> message;
};

/// The folder of a task's run below the suite's: another key, another run.
std::string run_folder_of(const suite_plan& plan, const std::string& task, const std::string& key);

/// Runs the suite's config on the task until its budget is spent.
/// @throws kevo::error as start_session
evolved_program evolve_task(const suite_plan& plan, const evolution_request& request);

}  // namespace kevo
