#pragma once
// The fitness function's role: run a program on the task and say what it is worth. Here are the concept, the
// request and the erased type; the shipped functions are in fitness/.

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

/// Another process that measures, so that an evaluation has to wait.
struct device_holder {
  int process = 0;      ///< its id; 0: unknown
  std::string command;  ///< printable start of its command line; empty: unknown
  friend bool operator==(const device_holder&, const device_holder&) = default;
};

/// "process 4711 (kevo run softmax.yaml)", with less where less is known.
inline std::string to_string(const device_holder& who) {
  if (who.process <= 0) return "another process";
  return "process " + std::to_string(who.process) + (who.command.empty() ? "" : " (" + who.command + ")");
}

/// Told of the process that an evaluation waits for when the wait begins and when that process changes, and
/// of nothing when the wait ends. It is called by the thread that evaluates.
using wait_listener = std::function<void(const std::optional<device_holder>&)>;

/// What is asked of a fitness function. The task is the fitness function's own.
struct evaluation_request {
  std::shared_ptr<const kevo::program> program;
  /// timed_full: the ordinary cascade, which times fully only what looks promising against `best_speedup`;
  /// confirmed: the full protocol in fresh processes, never from a cache; checked: correctness alone; built:
  /// whether it compiles. A function without these stages may go further than it was asked to.
  evaluation_stage wanted = evaluation_stage::timed_full;
  double best_speedup = 0;  ///< speedup of the champion; 0 if there is none
  bool fresh = false;       ///< measure again even if a cached result exists
  std::stop_token stop;     ///< requests an early end; the evaluation then throws kevo::error (interrupted)
  std::function<void(bool)>
      measuring;            ///< told when exclusive use of the device begins and ends; may be empty
  wait_listener waiting{};  ///< told of waits for other processes that measure; may be empty
};

/// Tells a request's `measuring` for as long as it lives, which must not be longer than the request.
class measuring_span {
 public:
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

/// A fitness function. `evaluate` blocks, may be called from several threads at once, returns every failure
/// of the candidate as a value and throws kevo::error for faults of the machine. Outcome and score are
/// enough. Optional: `describe()`.
template <class T>
concept fitness = requires(T& function, const evaluation_request& request) {
  { function.evaluate(request) } -> std::same_as<evaluation>;
};

/// Any fitness function: a shared handle, because one evaluator serves many threads.
class any_fitness {
 public:
  any_fitness() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_fitness> && fitness<std::remove_cvref_t<T>>)
      any_fitness(T&& function)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : any_fitness(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(function))) {}
  /// Shares a function that cannot be moved.
  template <fitness T>
  explicit any_fitness(std::shared_ptr<T> function)
      : object_(std::make_shared<model<T>>(std::move(function))) {}

  /// A valid evaluation to which the function gave no stage gets the one that was asked for.
  evaluation evaluate(const evaluation_request& request) const {
    return with_stage(object_->evaluate(request), request.wanted);
  }
  /// One line for people: backend, compiler, device, ...; empty if it has nothing to say.
  std::string describe() const { return object_->describe(); }
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
