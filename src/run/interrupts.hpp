#pragma once
// Ctrl-C as stop tokens: the first one winds a run down, the second cancels what is at work, the third ends
// the process, whatever still works.

#include <cstddef>
#include <stop_token>
#include <string>

namespace kevo {

/// Watches SIGINT and SIGTERM while it lives. One at a time in a process.
class interrupts {
 public:
  interrupts();
  ~interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;

  std::stop_token wind_down() const { return first_.get_token(); }
  std::stop_token at_once() const { return second_.get_token(); }
  /// Turns the signals that have arrived into stop requests; called by the coordinator between its steps.
  void poll();

 private:
  std::stop_source first_;
  std::stop_source second_;
};

/// What a run waits for after the first Ctrl-C, or, `cancelled`, after the second, and what the next one
/// does; empty if nothing is at work.
std::string waiting_line(std::size_t evaluations, std::size_t variations, bool cancelled);

}  // namespace kevo
