#pragma once
// The portfolio's role: which operator gets the next turn. Here are the concept and the erased type; the
// shipped policies are in vary/*.hpp.

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

/// What one operator has earned so far, as displays and reports show it.
struct operator_credit {
  double pulls = 0;        ///< number of finished turns
  double mean_reward = 0;  ///< per turn
  double cost_s = 0;       ///< [s] per turn
  double probability =
      0;  ///< that the next turn is its own, or its share of the score that decides; 0 if unknown
};

/// How a turn ended. `reward`: relative gain in score that the archive granted (value / best score before), 0
/// for failures, duplicates and rejected candidates.
struct operator_turn {
  std::size_t index = 0;
  double reward = 0;
  double cost_s = 0;  ///< [s] variation and evaluation together
};

/// A portfolio policy. `pick` is given which operators may run now (not exhausted, below their concurrency);
/// at least one may. `observe` is called once for every turn that ended.
template <class T>
concept portfolio_policy = std::copy_constructible<T> &&
    requires(T& policy, const T& view, std::span<const bool> available, rng& random,
             const operator_turn& turn) {
  { policy.pick(available, random) } -> std::same_as<std::size_t>;
  policy.observe(turn);
  { view.credits() } -> std::same_as<std::vector<operator_credit>>;
};

/// Any portfolio policy, as a value.
class any_portfolio {
 public:
  any_portfolio() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_portfolio> && portfolio_policy<std::remove_cvref_t<T>>)
      any_portfolio(T&& policy)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(std::make_unique<model<std::remove_cvref_t<T>>>(std::forward<T>(policy))) {}

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
    virtual std::unique_ptr<interface> clone() const = 0;
    virtual std::size_t pick(std::span<const bool> available, rng& random) = 0;
    virtual void observe(const operator_turn& turn) = 0;
    virtual std::vector<operator_credit> credits() const = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : policy(std::move(value)) {}
    std::unique_ptr<interface> clone() const override { return std::make_unique<model>(policy); }
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
