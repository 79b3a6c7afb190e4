#pragma once
// The stop rule's role: see what a run has spent and reached, and say when it is enough. Here are the concept
// and the erased type; the shipped rules are in stop/*.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <kevo/detail/clone_ptr.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/ledger.hpp>

namespace kevo {

/// Where a run stands. Equal progress must give an equal answer: rules may keep no clock of their own.
struct progress {
  kevo::ledger ledger;
  double best_speedup = 0;           ///< the champion's confirmed figure; 0 if there is none
  interval best_interval;            ///< of that figure
  std::optional<double> best_score;  ///< the best score seen, confirmed or not; nothing before the first one
  double best_sol_fraction = 0;      ///< of the champion; 0 if unknown
  std::uint64_t since_improvement =
      0;                         ///< evaluations since the best score last rose by more than the stall margin
  std::uint64_t since_kept = 0;  ///< evaluations since the archive last kept or improved something
  std::size_t archive_size = 0;
  std::size_t archive_cells = 0;         ///< 0 if not bounded
  std::optional<double> champion_score;  ///< the champion's confirmed score; nothing if there is no champion
  bool best_undecided = false;           ///< the interval does not allow to call the champion confirmed
};

/// One limit of a stop rule, for people: "evaluations", 200 of 400.
struct stop_part {
  std::string name;  ///< as a config names it
  double spent = 0;  ///< in the unit of the limit; may exceed it
  double limit = 0;

  /// The part of the limit that is used, in [0, 1].
  double share() const { return limit > 0 ? std::clamp(spent / limit, 0.0, 1.0) : 1; }
};

/// A stop rule. The reason is for people ("400 evaluations"). Optional: `used(progress)`; `parts(progress)`,
/// a `std::vector<stop_part>` with every limit by itself; `observe(progress)`, called once after every result
/// that was told: a rule that remembers does it there, for a replay asks `stop` less often.
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
  /// Every limit of the rule by itself, for displays. A rule that tells only which share is used has one part
  /// of limit 1 without a name; one that tells nothing has none.
  std::vector<stop_part> parts(const progress& now) const {
    return object_ ? object_->parts(now) : std::vector<stop_part>();
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
    virtual std::vector<stop_part> parts(const progress& now) const = 0;
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
    std::vector<stop_part> parts(const progress& now) const override {
      if constexpr (requires { rule.parts(now); }) return rule.parts(now);
      if (const auto share = used(now)) return {{"", *share, 1}};
      return {};
    }
    T rule;
  };
  detail::clone_ptr<interface> object_;
};

}  // namespace kevo
