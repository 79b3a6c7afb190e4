#pragma once
// An evaluation service, whole: what `kevo serve` runs. docs/serve.md is for users.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/remote/client.hpp"
#include "src/serve/http_server.hpp"
#include "src/serve/task_catalog.hpp"

namespace kevo::serve {

struct service_settings {
  http_settings http;
  std::vector<std::string> tasks;  ///< task files and folders of tasks
  std::string state;               ///< folder of the record; made if it does not exist
  std::string tokens;              ///< file of tokens; empty: everybody may use the service
  bool allow_tasks = false;        ///< take tasks that come with requests
  double requests_per_s = 0;       ///< of a tenant; 0: any number
  std::size_t longest_queue = 100000;
  std::size_t at_once = 1;  ///< evaluations at work
  /// Servers to which evaluations are handed on; none: they are made on this machine.
  remote::client_settings forward;
  problem_importer import = import_problem;
};

/// Serves from its construction to its destruction.
class service {
 public:
  /// @param log is told, in one line each, what an operator should know; called by several threads
  /// @throws kevo::error: usage (an address that others reach, without tokens), input, environment
  service(service_settings settings, fitness_maker make, std::function<void(const std::string&)> log);
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  ~service();
  /// "http://127.0.0.1:8750".
  std::string url() const;
  std::size_t tasks() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace kevo::serve
