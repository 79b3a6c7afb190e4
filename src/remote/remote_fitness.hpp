#pragma once
// The fitness function `remote`: evaluations are made by servers (`kevo serve`), which may go away and come
// back.

#include <memory>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/task.hpp>

#include "src/remote/client.hpp"
#include "src/remote/protocol.hpp"

namespace kevo::remote {

/// What is sent to the servers.
struct remote_settings {
  bool send_task = false;  ///< send the files of the task with each request, instead of naming the task
  std::int64_t priority = 0;
};

/// Sends each program to one of the servers. A program goes to the same server each time it is asked for; if
/// that one cannot be reached or is full, the next one is tried, and if none answers, it is tried again until
/// one does. A request is the same each time it is sent, so that no server evaluates it twice. What happened
/// is in the context of the evaluation (`remote`, `remote_interruptions`), and the time without a server in
/// `evaluation_cost::waited_s`. Thread-safe.
class remote_fitness {
 public:
  /// @throws kevo::error (input): an address is wrong; with `send_task`, a file of the task cannot be read
  remote_fitness(std::shared_ptr<const task> task, client_settings servers, remote_settings settings = {});

  /// @throws kevo::error: input (a server refuses the request: no such task, wrong token), environment (the
  /// machines of the servers fail; no server for `give_up_s`), interrupted
  evaluation evaluate(const evaluation_request& request) const;
  std::string describe() const;

 private:
  submission submission_of(const evaluation_request& request) const;

  std::shared_ptr<const task> task_;
  client client_;
  submission prototype_;  ///< the part of a submission that is the same for all programs
};

static_assert(fitness<remote_fitness>);

}  // namespace kevo::remote
