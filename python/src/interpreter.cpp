#include "python/src/interpreter.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <unistd.h>

#include <kevo/error.hpp>

namespace kevo::python {

/// The calls at work outside the interpreter's lock, and how far its exit is.
struct exit_state {
  std::mutex mutex;
  std::condition_variable call_ended;
  std::list<std::vector<std::stop_source>> calls;
  std::optional<std::thread::id> exiting;  ///< the thread on which the interpreter exits
  pid_t process = ::getpid();              ///< whose threads the calls belong to
  std::atomic<bool> gone{false};           ///< no thread but that one may take the lock any more
};

namespace {

exit_state& exit_of_process() {
  // Never destroyed: threads that still run while the process exits use it.
  static auto* state = new exit_state;
  // The threads of the process from which this one was forked do not exist here. Only the thread that forked
  // does, with the interpreter's lock, so nothing else uses the state now.
  if (state->process != ::getpid()) state = new exit_state;
  return *state;
}

bool exits_here(exit_state& state) {
  const std::scoped_lock lock(state.mutex);
  return state.exiting == std::this_thread::get_id();
}

void sleep_if_gone() {
  exit_state& state = exit_of_process();
  if (!state.gone || exits_here(state)) return;
  while (true) ::pause();
}

}  // namespace

void end_calls_at_exit() {
  exit_state& state = exit_of_process();
  std::vector<std::stop_source> stops;
  {
    const std::scoped_lock lock(state.mutex);
    state.exiting = std::this_thread::get_id();
    for (const auto& call : state.calls) stops.insert(stops.end(), call.begin(), call.end());
  }
  {
    const py::gil_scoped_release others_run;  // calls that end take the lock
    for (std::stop_source& stop : stops) stop.request_stop();
    std::unique_lock lock(state.mutex);
    state.call_ended.wait_for(lock, std::chrono::seconds(10), [&] { return state.calls.empty(); });
  }
  state.gone = true;
}

void require_no_exit() {
  exit_state& state = exit_of_process();
  const std::scoped_lock lock(state.mutex);
  if (state.exiting && state.exiting != std::this_thread::get_id())
    throw error(error_code::interrupted, "the interpreter exits");
}

outside_interpreter::open_call::open_call(std::vector<std::stop_source> stops) : of_(exit_of_process()) {
  const std::scoped_lock lock(of_.mutex);
  place_ = of_.calls.insert(of_.calls.end(), std::move(stops));
}

outside_interpreter::open_call::~open_call() {
  if (of_.process != ::getpid()) return;  // a role forked, and this is the child
  {
    const std::scoped_lock lock(of_.mutex);
    of_.calls.erase(place_);
  }
  of_.call_ended.notify_all();
}

outside_interpreter::~outside_interpreter() {
  sleep_if_gone();
}

inside_interpreter::still_there::still_there() {
  sleep_if_gone();
}

inside_interpreter::inside_interpreter() = default;

}  // namespace kevo::python
