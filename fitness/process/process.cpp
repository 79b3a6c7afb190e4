#include "fitness/process/process.hpp"

#include <csignal>
#include <cstring>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/process/proc.hpp"
#include "fitness/process/supervisor.hpp"

namespace kevo {

std::string_view to_string(exit_kind kind) {
  switch (kind) {
    case exit_kind::exited:
      return "exited";
    case exit_kind::signalled:
      return "signalled";
    case exit_kind::timed_out:
      return "timed_out";
    case exit_kind::output_exceeded:
      return "output_exceeded";
    case exit_kind::cancelled:
      return "cancelled";
    case exit_kind::not_started:
      return "not_started";
  }
  return "not_started";
}

std::string describe(const exit_report& report) {
  switch (report.kind) {
    case exit_kind::exited:
      return "ended with exit code " + std::to_string(report.code);
    case exit_kind::signalled: {
      std::string text = "was terminated by signal " + std::to_string(report.signal);
      if (report.signal == SIGSYS) return text + " (forbidden system call)";
      const char* name = ::sigdescr_np(report.signal);
      return name == nullptr ? text : text + " (" + name + ')';
    }
    case exit_kind::timed_out:
      return "timed out after " + std::to_string(static_cast<int>(report.wall_s)) + " s";
    case exit_kind::output_exceeded:
      return "wrote more output than allowed";
    case exit_kind::cancelled:
      return "was cancelled";
    case exit_kind::not_started:
      return "could not be started";
  }
  return "could not be started";
}

child_process& child_process::operator=(child_process&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

child_process::~child_process() {
  if (!state_) return;
  kill();
  wait();
}

pid_t child_process::pid() const {
  return state_->pid;
}
pid_t child_process::inner_pid() const {
  return state_->root();
}
bool child_process::contained() const {
  return state_->contained;
}
freezer child_process::inner_freezer() const {
  return freezer(state_->root());
}

void child_process::pause() {
  const std::lock_guard pausing(state_->pausing);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->pauses++ == 0) state_->paused_since = detail::process_state::clock::now();
    if (state_->reaped) return;
  }
  if (detail::stop_tree(state_->root(), !state_->contained, 2)) return;
  {
    const std::lock_guard lock(state_->mutex);
    --state_->pauses;
    if (state_->reaped) return;
  }
  detail::continue_tree(state_->root(), !state_->contained);
  throw error(error_code::environment, "cannot stop a process and its children within two seconds");
}

void child_process::stand_back(int cpu) {
  pause();
  const std::lock_guard pausing(state_->pausing);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->reaped || state_->pauses > 1) return;
  }
  const auto usual = detail::processors_of(state_->root());
  if (!usual) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  if (!detail::schedule_tree(state_->root(), !state_->contained, one, SCHED_IDLE)) {
    detail::schedule_tree(state_->root(), !state_->contained, *usual, SCHED_OTHER);
    return;
  }
  state_->usual_processors = usual;
  detail::continue_tree(state_->root(), !state_->contained);
}

bool child_process::confirmed_paused() const {
  const std::lock_guard pausing(state_->pausing);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->reaped) return true;
    if (state_->pauses == 0) return false;
  }
  return detail::tree_stands_still(state_->root(), !state_->contained);
}

void child_process::resume() {
  const std::lock_guard pausing(state_->pausing);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->pauses == 0 || --state_->pauses > 0) return;
    state_->paused_total += detail::process_state::clock::now() - state_->paused_since;
    if (state_->reaped) return;
  }
  if (const auto usual = std::exchange(state_->usual_processors, std::nullopt)) {
    // Those that cannot be stopped keep their processor, which makes them slower and nothing else.
    detail::stop_tree(state_->root(), !state_->contained, 0.2);
    detail::schedule_tree(state_->root(), !state_->contained, *usual, SCHED_OTHER);
  }
  detail::continue_tree(state_->root(), !state_->contained);
  detail::wake_supervisor();
}

void child_process::kill() {
  detail::kill_supervised(state_, exit_kind::cancelled);
}

exit_report child_process::wait(std::stop_token stop) {
  const std::stop_callback cancel(stop, [this] { kill(); });
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->done; });
  return state_->report;
}

std::optional<exit_report> child_process::try_wait() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->done) return std::nullopt;
  return state_->report;
}

}  // namespace kevo
