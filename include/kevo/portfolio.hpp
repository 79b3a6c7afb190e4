#pragma once
// Portfolios decide which variation operator gets the next turn. This header has the concept and the
// type-erased `any_portfolio`; the shipped policies are in vary/*.hpp.

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <kevo/detail/clone_ptr.hpp>
#include <kevo/random.hpp>

namespace kevo {

/// The statistics of one operator, for displays and reports.
struct operator_credit {
  double pulls = 0;        ///< number of finished turns
  double mean_reward = 0;  ///< mean reward of a turn
  double cost_s = 0;       ///< [s] mean cost of a turn
  /// The probability that the operator gets the next turn, or its share of the value by which the policy
  /// decides; 0 if unknown.
  double probability = 0;
};

/// The result of a turn of an operator, together with the first evaluation of the candidate that it made.
struct operator_turn {
  std::size_t index = 0;  ///< index of the operator
  /// The gain in score of a candidate that the archive kept, as a share of the range of scores up to the best
  /// one before, in [0, 1]; 0 for failures, duplicates, and candidates that were filtered out, dropped or
  /// rejected.
  double reward = 0;
  double cost_s = 0;  ///< [s] wall time of the turn and of that evaluation together
};

/// A portfolio policy. `pick` returns the index of the operator that gets the next turn. `available` says
/// which operators may run now (not exhausted, below their concurrency, able to vary the chosen parent); at
/// least one may. `observe` is called once for every finished turn. `credits` returns the statistics of each
/// operator, in their order. The shipped policies (kevo/vary/) describe these functions only where they do
/// more than is said here.
template <class T>
concept portfolio_policy = std::copy_constructible<T> &&
    requires(T& policy, const T& view, std::span<const bool> available, rng& random,
             const operator_turn& turn) {
  { policy.pick(available, random) } -> std::same_as<std::size_t>;
  policy.observe(turn);
  { view.credits() } -> std::same_as<std::vector<operator_credit>>;
};

/// A type-erased portfolio policy with value semantics. Its functions do what the concept `portfolio_policy`
/// says.
class any_portfolio {
 public:
  any_portfolio() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_portfolio> && portfolio_policy<std::remove_cvref_t<T>>)
      any_portfolio(T&& policy)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(new model<std::remove_cvref_t<T>>(std::forward<T>(policy))) {}

  std::size_t pick(std::span<const bool> available, rng& random) { return object_->pick(available, random); }
  void observe(const operator_turn& turn) { object_->observe(turn); }
  std::vector<operator_credit> credits() const { return object_->credits(); }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual interface* clone() const = 0;
    virtual std::size_t pick(std::span<const bool> available, rng& random) = 0;
    virtual void observe(const operator_turn& turn) = 0;
    virtual std::vector<operator_credit> credits() const = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : policy(std::move(value)) {}
    interface* clone() const override {
      return new model(policy);
    }
    std::size_t pick(std::span<const bool> available, rng& random) override {
      return policy.pick(available, random);
    }
    void observe(const operator_turn& turn) override { policy.observe(turn); }
    std::vector<operator_credit> credits() const override { return policy.credits(); }
    T policy;
  };
  detail::clone_ptr<interface> object_;
};

}  // namespace kevo
