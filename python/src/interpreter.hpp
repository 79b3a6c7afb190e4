#pragma once
// What threads of kevo and the interpreter of Python need to know of each other: who holds its lock, who lets
// go of objects, and how Ctrl-C reaches work that the interpreter does not see.

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <stop_token>
#include <thread>
#include <utility>

namespace kevo::python {

namespace py = pybind11;

/// A Python object that any thread may hold and copy without the interpreter's lock. Copies share the object;
/// the last one takes the lock to let go of it.
class held_object {
 public:
  held_object() = default;
  explicit held_object(py::object value) : object_(new py::object(std::move(value)), let_go) {}

  /// The object. The caller has the interpreter's lock.
  const py::object& get() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  static void let_go(py::object* value) {
    const py::gil_scoped_acquire lock;
    delete value;
  }
  std::shared_ptr<py::object> object_;
};

/// Throws kevo::error (usage) in a process that was forked from one in which kevo had begun to evaluate: the
/// threads that start and watch workers exist only there; (environment) in one that ignores SIGCHLD.
void require_own_process();

/// Calls `work(stop_token)` on a thread of its own and returns what it returns. The calling thread, which has
/// the interpreter's lock, gives it up meanwhile and looks for signals 20 times a second: when a handler
/// raises, as that of Ctrl-C does, a stop is requested, and the exception is raised once the work has ended.
template <class Work>
auto interruptibly(Work work) -> decltype(work(std::stop_token())) {
  std::stop_source stop;
  std::packaged_task<decltype(work(std::stop_token()))()> task([&] { return work(stop.get_token()); });
  auto result = task.get_future();
  std::optional<py::error_already_set> raised;
  {
    const py::gil_scoped_release others_run;
    const std::jthread thread(std::move(task));
    while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
      if (raised) continue;
      const py::gil_scoped_acquire lock;
      if (PyErr_CheckSignals() == 0) continue;
      raised.emplace();
      stop.request_stop();
    }
  }
  if (raised) throw std::move(*raised);
  return result.get();
}

}  // namespace kevo::python
