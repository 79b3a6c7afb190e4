#pragma once
// The role of a fitness function: run a program on the task and return its evaluation. This header has the
// concept `fitness`, the request and the type-erased `any_fitness`; the shipped fitness functions are in
// fitness/.

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <kevo/content_id.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// Another process that is measuring on the device, so that an evaluation has to wait.
struct device_holder {
  int process = 0;       ///< process id; 0 if unknown
  std::string command;   ///< start of the command line, made printable; empty if unknown
  bool stopped = false;  ///< by Ctrl-Z or SIGSTOP, so that nobody's turn comes before it goes on or ends
  friend bool operator==(const device_holder&, const device_holder&) = default;
};

/// For example "process 4711 (kevo run softmax.yaml)"; without the parts that are unknown. Of one that is
/// stopped, it says how to continue it.
inline std::string to_string(const device_holder& who) {
  if (who.process <= 0) return "another process";
  const std::string id = std::to_string(who.process);
  return "process " + id + (who.command.empty() ? "" : " (" + who.command + ")") +
         (who.stopped ? ", which is stopped (kill -CONT " + id + " continues it)" : "");
}

/// Called with the process that an evaluation waits for, when the wait begins and when that process changes;
/// called with nothing when the wait ends. The thread that evaluates calls it.
using wait_listener = std::function<void(const std::optional<device_holder>&)>;

/// A request for one evaluation. It does not contain the task: a fitness function is made for one task.
struct evaluation_request {
  std::shared_ptr<const kevo::program> program;  ///< the program to evaluate; never null
  /// The stage at which the evaluation ends. `timed_full`: the usual case; after a short timing, only a
  /// candidate that looks promising against `best_speedup` is timed in full. `confirmed`: the full protocol
  /// in new processes, never from a cache. `timed_short`: the short timing only. `checked`: build and
  /// correctness, no timing. `built`: build only. A fitness function without these stages may do more than it
  /// was asked for.
  evaluation_stage wanted = evaluation_stage::timed_full;
  double best_speedup = 0;  ///< champion::sure_speedup of the champion; 0 if there is none
  bool fresh = false;       ///< measure again even if a cached result exists
  std::stop_token stop;     ///< requests an early end; the evaluation then throws kevo::error (interrupted)
  /// Called with true when exclusive use of the device begins and with false when it ends; may be empty.
  std::function<void(bool)> measuring;
  wait_listener waiting{};  ///< called when a wait for other processes begins, changes or ends; may be empty
  /// Whether a program that exceeded its time, or whose process was ended from outside, is run once more,
  /// because other programs on the machine may have been the cause. Without it, the first failure counts. In
  /// both cases a failure that the machine may have caused counts only if the baseline still runs.
  bool second_try = true;
};

/// Calls `measuring(true)` of a request when it is constructed and `measuring(false)` when it is destroyed.
/// It refers to the request, which must outlive it.
class measuring_span {
 public:
  /// Tells the request that measuring begins.
  explicit measuring_span(const evaluation_request& request) : request_(request) { tell(true); }
  measuring_span(const measuring_span&) = delete;
  measuring_span& operator=(const measuring_span&) = delete;
  ~measuring_span() { tell(false); }

 private:
  void tell(bool begins) const {
    if (request_.measuring) request_.measuring(begins);
  }
  const evaluation_request& request_;
};

/// A fitness function. `evaluate` blocks and may be called from several threads at once. It returns every
/// failure of the candidate as a value and throws kevo::error for faults of the machine. Of the evaluation,
/// only `outcome` and `score` must be set. Optional: `describe()`, see any_fitness.
template <class T>
concept fitness = requires(T& function, const evaluation_request& request) {
  { function.evaluate(request) } -> std::same_as<evaluation>;
};

/// Type-erased fitness function. Copies share one object, because one evaluator serves many threads.
class any_fitness {
 public:
  any_fitness() = default;
  /// Moves or copies a fitness function into a new shared object.
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_fitness> && fitness<std::remove_cvref_t<T>>)
      any_fitness(T&& function)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : any_fitness(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(function))) {}
  /// Shares an existing object, for fitness functions that cannot be moved.
  template <fitness T>
  explicit any_fitness(std::shared_ptr<T> function)
      : object_(std::make_shared<model<T>>(std::move(function))) {}

  /// Evaluates. If the fitness function returns a valid evaluation without a stage, the stage is set to the
  /// one that was asked for.
  evaluation evaluate(const evaluation_request& request) const {
    return with_stage(object_->evaluate(request), request.wanted);
  }
  /// One line for display: backend, compiler, device, ...; empty if the fitness function has no `describe()`.
  std::string describe() const { return object_->describe(); }
  /// Whether it holds a fitness function.
  explicit operator bool() const { return object_ != nullptr; }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = delete;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual evaluation evaluate(const evaluation_request& request) = 0;
    virtual std::string describe() const = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(std::shared_ptr<T> value) : function(std::move(value)) {}
    evaluation evaluate(const evaluation_request& request) override { return function->evaluate(request); }
    std::string describe() const override {
      if constexpr (requires { function->describe(); }) return function->describe();
      return {};
    }
    std::shared_ptr<T> function;
  };
  std::shared_ptr<interface> object_;
};

}  // namespace kevo
