#include "fitness/process/forked_process.hpp"

#include <chrono>
#include <csignal>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kevo {
namespace {

// The parent tells at once, unless it has ended, too.
constexpr int longest_telling_ms = 2000;

exit_report report_of(int told) {
  exit_report report;
  pollfd poll = {told, POLLIN, 0};
  int status = 0;
  if (::poll(&poll, 1, longest_telling_ms) != 1 || ::read(told, &status, sizeof status) != sizeof status) {
    report.kind = exit_kind::signalled;  // its parent was ended, and it with it
    report.signal = SIGKILL;
    return report;
  }
  if (WIFSIGNALED(status)) {
    report.kind = exit_kind::signalled;
    report.signal = WTERMSIG(status);
  } else {
    report.kind = exit_kind::exited;
    report.code = WEXITSTATUS(status);
  }
  return report;
}

}  // namespace

forked_process::forked_process(pid_t process, detail::descriptor status)
    : watch_(freezer(process)), status_(std::move(status)) {}

forked_process& forked_process::operator=(forked_process&& other) noexcept {
  if (this == &other) return *this;
  end();
  watch_ = std::move(other.watch_);
  status_ = std::move(other.status_);
  report_ = std::move(other.report_);
  other.watch_.reset();
  return *this;
}

forked_process::~forked_process() {
  end();
}

void forked_process::end() noexcept {
  if (!watch_ || watch_->pid() < 0) return;
  watch_->kill();
  while (!watch_->ended()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  watch_.reset();
}

void forked_process::kill() {
  watch_->kill();
}

std::optional<exit_report> forked_process::try_wait() {
  if (!report_ && watch_->ended()) report_ = report_of(status_.get());
  return report_;
}

exit_report forked_process::wait() {
  while (!try_wait()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  return *report_;
}

}  // namespace kevo
