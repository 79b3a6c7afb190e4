#pragma once
// Ctrl-C as stop tokens: the first one winds a run down, the second stops it at once, the third ends the
// process.

#include <stop_token>

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

}  // namespace kevo
