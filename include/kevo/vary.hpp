#pragma once
// The variation operator's role: make a new program from a selection. Here are the concept, the request and
// the erased type; the shipped operators are in operators/.

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
#include <kevo/select.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// What an operator may ask of the run while it works. Every function is thread-safe; any may be empty in a
/// test.
struct variation_services {
  std::function<std::vector<candidate_snapshot>(candidate_id, std::size_t limit)> lineage;
  std::function<std::vector<candidate_snapshot>(candidate_id, std::size_t limit)> siblings;
  std::function<bool(const content_id&)> seen;
  std::function<evaluation(const program&)> evaluate;
  std::function<evaluation(const program&, evaluation_stage)> evaluate_until;
  std::function<void(const spending&)> book;
  std::function<void(std::string)> note;
  std::function<void(const model_call&)> record;
};

/// A request owns all data that it refers to, so that an operator may keep it for as long as it likes.
struct variation_request {
  std::uint64_t job = 0;  ///< the ticket of this turn: `observation::job` names it again
  std::shared_ptr<const kevo::task> task;
  std::vector<std::shared_ptr<const candidate_snapshot>> parents;  ///< at least one
  std::vector<std::shared_ptr<const candidate_snapshot>> inspirations;
  memory_scope scope = memory_scope::parent_trajectory;
  std::stop_token stop;
  /// Requested when the run is about to end: by its stop rule, by the first interrupt, and whenever `stop`
  /// is. An operator then begins nothing more that costs money and returns what it has.
  std::stop_token ending{};
  std::shared_ptr<const variation_services> services;

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
  /// Whether the program was in the graph when this request was made; later arrivals do not show, so that a
  /// replay answers alike.
  bool seen(const content_id& id) const { return services && services->seen && services->seen(id); }
  bool can_evaluate() const { return services && services->evaluate; }
  /// Evaluates a draft: budgeted, journaled, without making it a candidate. For repair chains and agents.
  evaluation evaluate(const program& draft) const { return services->evaluate(draft); }
  /// The same, no further than `wanted` (built, checked, timed_full) where the driver and the fitness
  /// function can stop there.
  evaluation evaluate(const program& draft, evaluation_stage wanted) const {
    return services->evaluate_until ? services->evaluate_until(draft, wanted) : services->evaluate(draft);
  }
  /// Books what the operator spends beyond its own wall time (tokens, money).
  void book(const spending& cost) const {
    if (services && services->book) services->book(cost);
  }
  /// Adds to the transcript that the journal keeps of this variation.
  void note(std::string text) const {
    if (services && services->note) services->note(std::move(text));
  }
  /// Has the journal keep a call of a language model.
  void record(const model_call& call) const {
    if (services && services->record) services->record(call);
  }
};

/// A new program, with a one-line summary of the change.
struct proposal {
  kevo::program program;
  std::string summary;
};

/// Why there is no program. `exhausted`: this operator has nothing left to offer for the whole run.
struct no_proposal {
  std::string reason;
  bool exhausted = false;
};

using variation_result = std::variant<proposal, no_proposal>;

/// A variation operator. `vary` blocks for as long as it takes (a microsecond or ten minutes), runs on a
/// thread of the pool and must heed `request.stop`. Optional, detected: `std::size_t concurrency() const`:
/// how many `vary` calls may run at once on this object (1 if absent); `bool replayable() const`: the result
/// is a function of request and rng alone, so a replay computes it again (absent: true) instead of reading it
/// from the journal; `bool repairs() const`: it can make something of parents that are not valid, by repair
/// or by writing anew (absent: true); while no candidate is valid, only such operators get turns, with any
/// failed candidate as the parent; `void observe(const observation&)`: called on the coordinator's thread,
/// and if `vary` reads what it writes, the operator guards it and is not replayable.
template <class T>
concept variation = std::copy_constructible<T> &&
    requires(T& op, const T& view, const variation_request& request, rng& random) {
  { view.name() } -> std::convertible_to<std::string>;
  { op.vary(request, random) } -> std::same_as<variation_result>;
};

/// Any variation operator, as a value.
class any_variation {
 public:
  any_variation() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_variation> && variation<std::remove_cvref_t<T>>)
      any_variation(T&& op)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(std::make_unique<model<std::remove_cvref_t<T>>>(std::forward<T>(op))) {}

  std::string name() const { return object_->name(); }
  variation_result vary(const variation_request& request, rng& random) {
    return object_->vary(request, random);
  }
  std::size_t concurrency() const { return object_->concurrency(); }
  bool replayable() const { return object_->replayable(); }
  bool repairs() const { return object_->repairs(); }
  void observe(const observation& seen) { object_->observe(seen); }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual std::unique_ptr<interface> clone() const = 0;
    virtual std::string name() const = 0;
    virtual variation_result vary(const variation_request& request, rng& random) = 0;
    virtual std::size_t concurrency() const = 0;
    virtual bool replayable() const = 0;
    virtual bool repairs() const = 0;
    virtual void observe(const observation& seen) = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : op(std::move(value)) {}
    std::unique_ptr<interface> clone() const override { return std::make_unique<model>(op); }
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
    bool repairs() const override {
      if constexpr (requires { op.repairs(); }) return op.repairs();
      return true;
    }
    void observe(const observation& seen) override {
      if constexpr (requires { op.observe(seen); }) op.observe(seen);
    }
    T op;
  };
  detail::clone_ptr<interface> object_;
};

}  // namespace kevo
