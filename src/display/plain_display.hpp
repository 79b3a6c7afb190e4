#pragma once
// Lines for logs and pipes: one for every improvement, and one about where the run stands every ten seconds.

#include "src/display/display.hpp"
#include "src/display/display_state.hpp"

namespace kevo {

/// Not thread-safe. Times are run times, so that equal events give equal lines.
class plain_display {
 public:
  plain_display(run_title title, display_output output, bool unicode, double status_every_s = 10);

  void consume(const event& what);
  void remember(const event& what) { state_.consume(what); }
  void refresh(const run_status& now);
  void message(std::string_view text);
  void waiting(std::string_view text) { message(text); }
  void close();

 private:
  void say(const std::string& line);
  void say_status();
  /// A line once a wait for another process has lasted a second, and again as often as a status. After such a
  /// line only long waits are told of for as long.
  void say_wait(const run_status& now);
  /// Why the champion is undecided; empty if it is confirmed.
  std::string why_undecided() const;

  display_state state_;
  display_output output_;
  double every_s_;
  double next_s_;
  double next_wait_s_ = 0;    ///< [s] length of the present wait at which the next line is due
  double quiet_until_s_ = 0;  ///< [s] run time before which short waits are not told of
  bool started_ = false;
  bool closed_ = false;
};

}  // namespace kevo
