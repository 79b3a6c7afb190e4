#pragma once
// What a person sees while a run goes on: a live panel on a terminal, plain lines elsewhere, nothing for
// machines. All of them are sinks that are also told, a few times a second, where the run stands.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <kevo/event.hpp>

#include "src/display/run_status.hpp"

namespace kevo {

/// Takes the bytes that a display writes.
using display_output = std::function<void(std::string_view)>;

/// Any display: a shared handle. All calls on one thread, the coordinator's.
class any_display {
 public:
  any_display() = default;  ///< a quiet one
  template <class T>
  explicit any_display(std::shared_ptr<T> shown)
      : consume_([shown](const event& what) { shown->consume(what); }),
        remember_([shown](const event& what) { shown->remember(what); }),
        refresh_([shown](const run_status& now) { shown->refresh(now); }),
        message_([shown](std::string_view text) { shown->message(text); }),
        waiting_([shown](std::string_view text) { shown->waiting(text); }),
        close_([shown] { shown->close(); }) {}

  /// An event of the search (any_display is a kevo::sink).
  void consume(const event& what) const {
    if (consume_) consume_(what);
  }
  /// An event of an earlier session of the run: it counts, but is no news.
  void remember(const event& what) const {
    if (remember_) remember_(what);
  }
  /// Where the run stands; call it as often as is convenient (it draws at most ten times a second).
  void refresh(const run_status& now) const {
    if (refresh_) refresh_(now);
  }
  /// A line for the user that is not an event, for example a warning. Shown at once.
  void message(std::string_view text) const {
    if (message_) message_(text);
  }
  /// A message about what the run waits for at present; the last picture of a live display leaves it out.
  void waiting(std::string_view text) const {
    if (waiting_) waiting_(text);
  }
  /// Draws the last state and gives the terminal back. Once more has no effect.
  void close() const {
    if (close_) close_();
  }

 private:
  std::function<void(const event&)> consume_;
  std::function<void(const event&)> remember_;
  std::function<void(const run_status&)> refresh_;
  std::function<void(std::string_view)> message_;
  std::function<void(std::string_view)> waiting_;
  std::function<void()> close_;
};

/// automatic: live on a terminal that can (TERM is not "dumb"), else plain. quiet: for --json.
enum class display_mode { automatic, live, plain, quiet };

/// The display for a file descriptor (1 is standard output). Does not own the descriptor. A live display
/// hides the cursor until `close()` or its destruction.
any_display make_display(display_mode mode, run_title title, int descriptor = 1);

/// Writing this to the terminal undoes all that a live display did to it. For a signal handler that exits at
/// once (write(2) is async-signal-safe); harmless if no display is live.
inline constexpr std::string_view terminal_restore = "\x1b[?2026l\x1b[?25h\x1b[0m\x1b[?1049l";

}  // namespace kevo
