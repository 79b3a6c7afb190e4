#pragma once
// Ctrl-C as stop tokens: the first ends the run gracefully, the second cancels running work, the third ends
// the process, whatever still works.

#include <cstddef>
#include <stop_token>
#include <string>

namespace kevo {

/// Watches SIGINT, SIGTERM and SIGHUP (unless that is ignored, as by nohup) while it lives. One at a time in
/// a process.
class interrupts {
 public:
  interrupts();
  ~interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;

  std::stop_token graceful_stop() const { return first_.get_token(); }
  std::stop_token immediate_stop() const { return second_.get_token(); }
  /// Turns the signals that have arrived into stop requests; called by the coordinator between its steps.
  void poll();

 private:
  std::stop_source first_;
  std::stop_source second_;
};

/// What is at work when a run is to end.
struct work_left {
  std::size_t evaluations = 0;  ///< without those that confirm
  std::size_t confirmations = 0;
  std::size_t variations = 0;
};

/// "1 evaluation and 2 confirmations"; empty if nothing is at work.
std::string words(const work_left& left);

/// What a run waits for after the first Ctrl-C, or, `cancelled`, after the second, and what the next one
/// does; empty if nothing is at work.
std::string waiting_line(const work_left& left, bool cancelled);

/// What a run waits for after its stop rule, and for how long at most [s]; empty if nothing is at work.
std::string finishing_line(const work_left& left, double most_s);
/// What was cancelled when that time was over; empty if nothing is at work.
std::string cut_off_line(const work_left& left);

}  // namespace kevo
