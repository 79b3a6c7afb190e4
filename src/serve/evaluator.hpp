#pragma once
// The threads of a service that evaluate.

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "src/serve/broker.hpp"
#include "src/serve/judge.hpp"

namespace kevo::serve {

/// Takes jobs from a broker and evaluates them, `at_once` at a time, until it is destroyed; what is at work
/// then is cancelled and put back. Both references must outlive it.
class evaluator {
 public:
  /// @param log is told in one line of every failure of the machine; called by several threads
  evaluator(broker& jobs, judge judges, metrics& counts, std::size_t at_once,
            std::function<void(const std::string&)> log);
  evaluator(const evaluator&) = delete;
  evaluator& operator=(const evaluator&) = delete;
  ~evaluator();

 private:
  void work(const std::stop_token& stop);
  void evaluate(job& one, const std::stop_token& stop);
  void end(const job& one, const std::stop_token& stop);

  broker& jobs_;
  judge judge_;
  metrics& counts_;
  std::function<void(const std::string&)> log_;
  std::vector<std::jthread> threads_;
};

}  // namespace kevo::serve
