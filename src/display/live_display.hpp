#pragma once
// The panel on a terminal: drawn on the alternate screen, at most ten times a second, without flicker. The
// last panel stays on the ordinary screen after the end.

#include <chrono>
#include <functional>

#include "src/display/display.hpp"
#include "src/display/display_state.hpp"
#include "src/display/terminal.hpp"

namespace kevo {

/// What a live display stands on; tests give their own.
struct live_display_setup {
  display_output output;
  std::function<terminal_size()> size;
  bool color = true;
  bool unicode = true;
};

/// Not thread-safe. The terminal is taken at the first `refresh` and given back by `close` or the destructor.
class live_display {
 public:
  live_display(run_title title, live_display_setup setup);
  ~live_display();
  live_display(const live_display&) = delete;
  live_display& operator=(const live_display&) = delete;

  void consume(const event& what) { state_.consume(what); }
  void remember(const event& what) { state_.consume(what); }
  void refresh(const run_status& now);
  void message(std::string_view text);
  void waiting(std::string_view text);
  void close();

 private:
  void draw();
  void show_at_once(std::string_view text);

  display_state state_;
  live_display_setup setup_;
  terminal_size drawn_size_{0, 0};
  std::chrono::steady_clock::time_point drawn_at_;
  bool taken_ = false;
  bool closed_ = false;
};

}  // namespace kevo
