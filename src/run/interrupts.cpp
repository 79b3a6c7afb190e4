#include "src/run/interrupts.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "src/display/display.hpp"

namespace kevo {
namespace {

// A signal handler has nothing but globals to speak through.
std::atomic<int> arrived{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  if (++arrived < 3) return;
  [[maybe_unused]] const auto written =
      ::write(STDOUT_FILENO, terminal_restore.data(), isatty(STDOUT_FILENO) ? terminal_restore.size() : 0);
  ::_exit(130);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

interrupts::interrupts() {
  arrived = 0;
  handle(SIGINT, on_interrupt);
  handle(SIGTERM, on_interrupt);
}

interrupts::~interrupts() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

void interrupts::poll() {
  const int count = arrived;
  if (count >= 1) first_.request_stop();
  if (count >= 2) second_.request_stop();
}

std::string waiting_line(std::size_t evaluations, std::size_t variations, bool cancelled) {
  const auto several = [](std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string what;
  if (evaluations > 0) what = several(evaluations, "evaluation");
  if (variations > 0) what += (what.empty() ? "" : " and ") + several(variations, "variation");
  if (what.empty()) return {};
  const bool one = evaluations + variations == 1;
  const char* const them = one ? "it" : "them";
  if (cancelled)
    return fmt::format("cancelled {}; press Ctrl-C again to exit without waiting for {}", what, them);
  return fmt::format("waiting for {}; press Ctrl-C again to cancel {}", what, them);
}

}  // namespace kevo
