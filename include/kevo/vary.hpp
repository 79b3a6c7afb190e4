#pragma once
// Variation operators make a new program from a selection of candidates. This header has the concept, the
// request and the type-erased `any_variation`; the shipped operators are in operators/.

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/ledger.hpp>
#include <kevo/model_call.hpp>
#include <kevo/random.hpp>
#include <kevo/results.hpp>
#include <kevo/select.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// A new program, with a one-line summary of the change.
struct proposal {
  kevo::program program;  ///< the complete source; must have a file
  std::string summary;    ///< for users, and for operators that show earlier candidates to a model
  /// Number of the reply of a model that the program was made from, where a turn asked for several replies to
  /// one prompt; else 0.
  std::uint32_t sample = 0;
};

/// Functions of the run that an operator may call while it works. `variation_request` has a member function
/// for each, which says what it does. Every function is thread-safe. Any may be empty in a test.
struct variation_services {
  std::function<std::vector<candidate_snapshot>(candidate_id, std::size_t limit)> lineage;
  std::function<std::vector<candidate_snapshot>(candidate_id, std::size_t limit)> siblings;
  std::function<std::vector<candidate_snapshot>(candidate_id, std::size_t limit)> children;
  std::function<bool(const content_id&)> seen;
  std::function<std::shared_ptr<const program>(candidate_id)> program_of;
  std::function<evaluation(const program&)> evaluate;
  std::function<evaluation(const program&, evaluation_stage)> evaluate_until;
  std::function<void(const spending&)> book;
  std::function<void(std::string)> note;
  std::function<void(const model_call&)> record;
  std::function<void(proposal)> propose;
};

/// What an operator is asked to vary. A request owns all data that it refers to, so that an operator may keep
/// it for any length of time.
struct variation_request {
  std::uint64_t job = 0;  ///< ticket of this turn; `observation::job` repeats it
  std::shared_ptr<const kevo::task> task;
  std::vector<std::shared_ptr<const candidate_snapshot>> parents;       ///< at least one
  std::vector<std::shared_ptr<const candidate_snapshot>> inspirations;  ///< further candidates to learn from
  /// Which earlier candidates the operator shows, for instance in a prompt.
  memory_scope scope = memory_scope::parent_trajectory;
  /// Number of candidates of the run, including seeds, when this request was made; 0 if it is not given.
  std::size_t known = 0;
  /// The results that had been told when this request was made, newest first, if the operator `learns`; null
  /// if there are none.
  std::shared_ptr<const told_result> results{};
  std::stop_token stop;  ///< asks the operator to end at once
  /// Requested when the run is about to end: by its stop rule, by the first interrupt, and whenever `stop` is
  /// requested. The operator then starts nothing more that costs money and returns what it has.
  std::stop_token ending{};
  std::shared_ptr<const variation_services> services;  ///< may be null

  /// The first parent and its first-parent ancestors, newest first, at most `limit`.
  std::vector<candidate_snapshot> lineage(std::size_t limit = 32) const {
    if (!services || !services->lineage || parents.empty()) return {};
    return services->lineage(parents.front()->id, limit);
  }
  /// Other children of the first parent's parents, at most `limit`.
  std::vector<candidate_snapshot> siblings(std::size_t limit = 32) const {
    if (!services || !services->siblings || parents.empty()) return {};
    return services->siblings(parents.front()->id, limit);
  }
  /// Children of the first parent, newest first, at most `limit`. They are siblings of the candidate that is
  /// being made.
  std::vector<candidate_snapshot> children(std::size_t limit = 32) const {
    if (!services || !services->children || parents.empty()) return {};
    return services->children(parents.front()->id, limit);
  }
  /// Whether the program was in the search graph when this request was made. Programs that were added later
  /// do not count, so that a replay gives the same answer.
  bool seen(const content_id& id) const { return services && services->seen && services->seen(id); }
  /// The program of one of the first `known` candidates; null for others.
  std::shared_ptr<const program> program_of(candidate_id id) const {
    return services && services->program_of ? services->program_of(id) : nullptr;
  }
  /// Whether `evaluate` may be called.
  bool can_evaluate() const { return services && services->evaluate; }
  /// Evaluates a draft, for repair chains and agents. The evaluation counts in the ledger and is recorded in
  /// the journal, but the draft does not become a candidate. Requires `can_evaluate()`.
  evaluation evaluate(const program& draft) const { return services->evaluate(draft); }
  /// The same, but only up to the stage `wanted` (built, checked or timed_full) if the driver and the fitness
  /// function can stop there.
  evaluation evaluate(const program& draft, evaluation_stage wanted) const {
    return services->evaluate_until ? services->evaluate_until(draft, wanted) : services->evaluate(draft);
  }
  /// Adds to the cost of this turn what the operator spends beyond its wall time (tokens, money).
  void book(const spending& cost) const {
    if (services && services->book) services->book(cost);
  }
  /// Appends text to the transcript of this turn in the journal.
  void note(std::string text) const {
    if (services && services->note) services->note(std::move(text));
  }
  /// Records a call of a language model in the journal.
  void record(const model_call& call) const {
    if (services && services->record) services->record(call);
  }
  /// Proposes a further program of this turn, beside the one that `vary` returns. It becomes a candidate with
  /// the same parents. Each further program of a turn needs a `sample` of its own: of two with the same one,
  /// the second is ignored, so that a turn which a resumed run repeats proposes nothing twice.
  void propose(proposal further) const {
    if (services && services->propose) services->propose(std::move(further));
  }
};

/// The answer of an operator that made no program.
struct no_proposal {
  std::string reason;      ///< one sentence for the user
  bool exhausted = false;  ///< no further program is expected in this run; counts as several fruitless turns
};

/// The result of a turn.
using variation_result = std::variant<proposal, no_proposal>;

/// A variation operator. `name` is the name in configs, journals and reports. `vary` performs one turn: it
/// makes a program from the candidates of the request, or says why there is none. It runs on a worker thread,
/// may take from a microsecond to many minutes, and must return soon after `request.stop` is requested.
/// Optional members, detected at compile time:
/// - `std::size_t concurrency() const`: the maximum number of `vary` calls that may run at once on this
///   object; 1 if absent.
/// - `bool replayable() const`: whether the result depends on nothing but request and rng, so that a replay
///   computes it again instead of reading it from the journal; true if absent.
/// - `bool evaluated_after_stop() const`: whether its candidates that wait when the search stops are still
///   evaluated, because making them was expensive; if absent, true for an operator that is not replayable.
/// - `bool repairs() const`: whether it can make a program from a parent that is not valid, by repairing it
///   or by writing a new one; true if absent. While no candidate is valid, only such operators are called,
///   with a failed candidate as the parent.
/// - `bool learns() const`: whether requests hold the `results` of the run; false if absent.
/// - `void observe(const observation&)`: is told the result of each evaluation of its candidates, except
///   confirmations. It is called on the coordinator's thread. If `vary` reads what `observe` writes, the
///   operator must synchronize the two, and it is not replayable.
template <class T>
concept variation = std::copy_constructible<T> &&
    requires(T& op, const T& view, const variation_request& request, rng& random) {
  { view.name() } -> std::convertible_to<std::string>;
  { op.vary(request, random) } -> std::same_as<variation_result>;
};

/// A type-erased variation operator with value semantics. Its functions do what the concept `variation` says;
/// for an optional member that the held operator does not have, they return the value stated there.
class any_variation {
 public:
  any_variation() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_variation> && variation<std::remove_cvref_t<T>>)
      any_variation(T&& op)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(new model<std::remove_cvref_t<T>>(std::forward<T>(op))) {}

  std::string name() const { return object_->name(); }
  variation_result vary(const variation_request& request, rng& random) {
    return object_->vary(request, random);
  }
  std::size_t concurrency() const { return object_->concurrency(); }
  bool replayable() const { return object_->replayable(); }
  bool evaluated_after_stop() const { return object_->evaluated_after_stop(); }
  bool repairs() const { return object_->repairs(); }
  bool learns() const { return object_->learns(); }
  void observe(const observation& seen) { object_->observe(seen); }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual interface* clone() const = 0;
    virtual std::string name() const = 0;
    virtual variation_result vary(const variation_request& request, rng& random) = 0;
    virtual std::size_t concurrency() const = 0;
    virtual bool replayable() const = 0;
    virtual bool evaluated_after_stop() const = 0;
    virtual bool repairs() const = 0;
    virtual bool learns() const = 0;
    virtual void observe(const observation& seen) = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : op(std::move(value)) {}
    interface* clone() const override {
      return new model(op);
    }
    std::string name() const override { return op.name(); }
    variation_result vary(const variation_request& request, rng& random) override {
      return op.vary(request, random);
    }
    std::size_t concurrency() const override {
      if constexpr (requires { op.concurrency(); }) return op.concurrency();
      return 1;
    }
    bool replayable() const override {
      if constexpr (requires { op.replayable(); }) return op.replayable();
      return true;
    }
    bool evaluated_after_stop() const override {
      if constexpr (requires { op.evaluated_after_stop(); }) return op.evaluated_after_stop();
      return !replayable();
    }
    bool repairs() const override {
      if constexpr (requires { op.repairs(); }) return op.repairs();
      return true;
    }
    bool learns() const override {
      if constexpr (requires { op.learns(); }) return op.learns();
      return false;
    }
    void observe(const observation& seen) override {
      if constexpr (requires { op.observe(seen); }) op.observe(seen);
    }
    T op;
  };
  detail::clone_ptr<interface> object_;
};

}  // namespace kevo
