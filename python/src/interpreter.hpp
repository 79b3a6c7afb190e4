#pragma once
// What threads of kevo and the interpreter of Python need to know of each other: who holds its lock, who lets
// go of objects, and how Ctrl-C reaches work that the interpreter does not see.

#include <chrono>
#include <exception>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace kevo::python {

namespace py = pybind11;

struct exit_state;

/// Ends, when the interpreter exits, the calls that are at work outside its lock: requests their stop and
/// waits for them, at most 10 s, as a role in Python may wait for what never comes. From then on a thread
/// that still wants the lock sleeps for good: the interpreter would end it in the middle of C++ code, or use
/// what it has destroyed already. The caller has the lock.
void end_calls_at_exit();

/// Throws kevo::error (interrupted) on all threads but the exiting one once the interpreter exits. The caller
/// has the lock, and keeps it until it has begun its call.
void require_no_exit();

/// While it lives, the calling thread does not hold the interpreter's lock, so that other threads of Python
/// run. The thread held it before and takes it again at the end. An exit of the interpreter requests a stop
/// of `stops` and waits until this object is gone.
class outside_interpreter {
 public:
  outside_interpreter() : outside_interpreter(std::vector<std::stop_source>()) {}
  explicit outside_interpreter(std::vector<std::stop_source> stops) : call_(std::move(stops)) {}
  outside_interpreter(const outside_interpreter&) = delete;
  outside_interpreter& operator=(const outside_interpreter&) = delete;
  ~outside_interpreter();

 private:
  /// An entry in the list of calls that an exit ends.
  class open_call {
   public:
    explicit open_call(std::vector<std::stop_source> stops);
    open_call(const open_call&) = delete;
    open_call& operator=(const open_call&) = delete;
    ~open_call();

   private:
    exit_state& of_;
    std::list<std::vector<std::stop_source>>::iterator place_;
  };
  open_call call_;  // ends last, when the thread has the lock again
  py::gil_scoped_release released_;
};

/// While it lives, the calling thread, which may be one of kevo's own, has the interpreter's lock.
class inside_interpreter {
 public:
  inside_interpreter();
  inside_interpreter(const inside_interpreter&) = delete;
  inside_interpreter& operator=(const inside_interpreter&) = delete;
  ~inside_interpreter() = default;

 private:
  struct still_there {
    still_there();  // does not return after the exit
  } asked_first_;
  py::gil_scoped_acquire acquired_;
};

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
    const inside_interpreter lock;
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
/// An exit of the interpreter requests a stop, too.
template <class Work>
auto interruptibly(Work work) -> decltype(work(std::stop_token())) {
  require_no_exit();
  std::stop_source stop;
  std::packaged_task<decltype(work(std::stop_token()))()> task([&] { return work(stop.get_token()); });
  auto result = task.get_future();
  std::optional<py::error_already_set> raised;
  {
    const outside_interpreter others_run({stop});
    const std::jthread thread(std::move(task));
    while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
      if (raised) continue;
      const inside_interpreter lock;
      if (PyErr_CheckSignals() == 0) continue;
      raised.emplace();
      stop.request_stop();
    }
  }
  if (raised) throw std::move(*raised);
  return result.get();
}

}  // namespace kevo::python
