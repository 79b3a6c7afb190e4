#pragma once
// Who evaluates the submissions of a service: its own machine, or other servers to which it hands them on.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <kevo/evaluation.hpp>

#include "src/remote/client.hpp"
#include "src/remote/protocol.hpp"
#include "src/serve/task_catalog.hpp"

namespace kevo::serve {

/// What became of a submission: an evaluation, or a failure of the machine or the task.
struct judged {
  std::optional<evaluation> made;
  double age_s = 0;        ///< [s] since the evaluation began, if that was before it was asked for
  std::string error_code;  ///< of a failure: a name of kevo::error_code, or "timeout" (limit_s)
  std::string error;
};

/// Blocks until a submission is evaluated; called by several threads at once.
/// @throws kevo::error (interrupted) if `stop` is requested; any kevo::error or refusal is a failure
using judge = std::function<judged(const remote::submission&, const std::stop_token& stop)>;

/// Evaluates with the fitness functions of `tasks`, which must outlive it.
judge judge_here(task_catalog& tasks);

/// Hands submissions on to other servers, with all that their evaluation depends on. Queue, deadlines and
/// priorities stay with this service. Servers that are copies of each other are one address of a proxy, or
/// several addresses. `tasks` must outlive it.
/// `log` is told in a line when no server answers, and when one does again. @throws kevo::error (input): an
/// address is wrong
judge judge_elsewhere(task_catalog& tasks, remote::client_settings servers,
                      std::function<void(const std::string&)> log);

}  // namespace kevo::serve
