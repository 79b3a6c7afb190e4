#include "src/run/interrupts.hpp"

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "src/base/text/counted.hpp"
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

// A shell that ends and the kernel both tell of a terminal that is closed.
extern "C" void on_hangup(int) {
  int none = 0;
  arrived.compare_exchange_strong(none, 1);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction before {};
  // nohup has asked for that.
  if (signal == SIGHUP && ::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
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
  handle(SIGHUP, on_hangup);
}

interrupts::~interrupts() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  handle(SIGHUP, SIG_DFL);
}

void interrupts::poll() {
  const int count = arrived;
  if (count >= 1) first_.request_stop();
  if (count >= 2) second_.request_stop();
}

std::string words(const work_left& left) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::size_t count, const char* what) {
    if (count > 0) parts.push_back(format::counted(count, what));
  };
  add(left.evaluations, "evaluation");
  add(left.confirmations, "confirmation");
  add(left.variations, "operator turn");
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

namespace {
const char* pronoun(const work_left& left) {
  return left.evaluations + left.confirmations + left.variations == 1 ? "it" : "them";
}
}  // namespace

std::string waiting_line(const work_left& left, bool cancelled) {
  const std::string what = words(left);
  if (what.empty()) return {};
  if (cancelled)
    return fmt::format("cancelled {}; press Ctrl-C again to exit without waiting for {}", what,
                       pronoun(left));
  return fmt::format("waiting for {}; press Ctrl-C again to cancel {}", what, pronoun(left));
}

std::string finishing_line(const work_left& left, double most_s) {
  const std::string what = words(left);
  if (what.empty()) return {};
  // After a confirmation, the next candidate that looks better than the champion is confirmed.
  const char* more = left.confirmations > 0 ? " (more confirmations may follow)" : "";
  return fmt::format("stopped; waiting for {}{}, at most {:.0f} s (run.finish)", what, more,
                     std::ceil(most_s));
}

std::string cut_off_line(const work_left& left) {
  const std::string what = words(left);
  if (what.empty()) return {};
  return fmt::format(
      "the time for finishing (run.finish) is over: cancelled {}{}", what,
      left.evaluations + left.confirmations > 0 ? "; `kevo resume` evaluates what was cancelled" : "");
}

}  // namespace kevo
