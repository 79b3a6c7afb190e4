#pragma once
// The stop rule's role: see every evaluation and the ledger, say when it is enough. Shipped rules:
// stop/*.hpp.

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <kevo/detail/clone_ptr.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/ledger.hpp>

namespace kevo {

/// Where a run stands. Equal progress must give an equal answer: rules may keep no clock of their own.
struct progress {
  kevo::ledger ledger;
  double best_speedup = 0;       ///< the champion's confirmed figure; 0 if there is none
  interval best_interval;        ///< of that figure
  double best_score = 0;         ///< the best score seen, confirmed or not
  double best_sol_fraction = 0;  ///< of the champion; 0 if unknown
  std::uint64_t since_improvement =
      0;                         ///< evaluations since the best score last rose by more than the stall margin
  std::uint64_t since_kept = 0;  ///< evaluations since the archive last kept or improved something
  std::size_t archive_size = 0;
  std::size_t archive_cells = 0;  ///< 0 if not bounded
  double champion_score = 0;      ///< the champion's confirmed score; 0 if there is none
};

/// A stop rule. The reason is for people ("400 evaluations"). Optional: `used(progress)`;
/// `observe(progress)`, called once after every result that was told: a rule that remembers does it there,
/// for a replay asks `stop` less often.
template <class T>
concept stop_rule = std::copy_constructible<T> && requires(T& rule, const progress& now) {
  { rule.stop(now) } -> std::same_as<std::optional<std::string>>;
};

/// Any stop rule, as a value. An empty one never stops.
class any_stop_rule {
 public:
  any_stop_rule() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_stop_rule> && stop_rule<std::remove_cvref_t<T>>)
      any_stop_rule(T&& rule)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(std::make_unique<model<std::remove_cvref_t<T>>>(std::forward<T>(rule))) {}

  std::optional<std::string> stop(const progress& now) { return object_ ? object_->stop(now) : std::nullopt; }
  void observe(const progress& now) {
    if (object_) object_->observe(now);
  }
  /// Share of the budget that is used, 0..1, for displays; nothing if the rule cannot tell. Optional in
  /// rules.
  std::optional<double> used(const progress& now) const {
    return object_ ? object_->used(now) : std::nullopt;
  }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual std::unique_ptr<interface> clone() const = 0;
    virtual std::optional<std::string> stop(const progress& now) = 0;
    virtual void observe(const progress& now) = 0;
    virtual std::optional<double> used(const progress& now) const = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : rule(std::move(value)) {}
    std::unique_ptr<interface> clone() const override { return std::make_unique<model>(rule); }
    std::optional<std::string> stop(const progress& now) override { return rule.stop(now); }
    void observe(const progress& now) override {
      if constexpr (requires { rule.observe(now); }) rule.observe(now);
    }
    std::optional<double> used(const progress& now) const override {
      if constexpr (requires { rule.used(now); }) return rule.used(now);
      return std::nullopt;
    }
    T rule;
  };
  detail::clone_ptr<interface> object_;
};

}  // namespace kevo
