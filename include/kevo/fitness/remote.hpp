#pragma once
// The fitness function `remote`: servers (`kevo serve`) evaluate the candidates. A server may stop and come
// back. Compiled: link kevo::kevo.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Which servers to use, and what to send to them.
struct remote_settings {
  std::vector<std::string> urls;  ///< "http://host:port" or "https://host:port"; at least one
  std::string token;              ///< sent as `Authorization: Bearer TOKEN`; empty: none
  std::string ca_file;            ///< PEM file with certificates to trust besides the system's; empty: none
  bool send_task = false;         ///< send the files of the task with each request, instead of its name
  std::int64_t priority = 0;      ///< -100 to 100; a server evaluates higher numbers first
  double wait_s = 30;             ///< [s] that a request waits for its result before it is sent again
  double give_up_s = 0;  ///< [s] without an answer of any server, after which `evaluate` throws; 0: never
};

/// Sends each program to one of the servers. The same program goes to the same server each time. If that
/// server cannot be reached or is full, the next one is tried, and if none answers, all are tried again until
/// one does. A request is the same each time it is sent, so that no server evaluates it twice. The context of
/// the evaluation says which server answered (`remote`) and how often the connection was lost
/// (`remote_interruptions`); `evaluation_cost::waited_s` contains the time without a server. Thread-safe.
class remote_fitness {
 public:
  /// Connects to no server yet.
  /// @throws kevo::error (input): an address is wrong or there is none; with `send_task`, a file of the task
  /// cannot be read
  explicit remote_fitness(const std::shared_ptr<const task>& task, const remote_settings& settings);

  /// Sends the program of the request to a server and waits for the result.
  /// @throws kevo::error: input (a server refuses the request: it has no such task, or the token is wrong),
  /// environment (the server cannot evaluate, or no server answered for `give_up_s`), interrupted
  /// (`request.stop`)
  evaluation evaluate(const evaluation_request& request) const;
  /// One line with the addresses.
  std::string describe() const;

 private:
  struct state;
  std::shared_ptr<const state> state_;
};

static_assert(fitness<remote_fitness>);

}  // namespace kevo
