#pragma once
// Stop rules decide from what a run has spent and reached whether it ends. This header has the concept and
// the type-erased `any_stop_rule`; the shipped rules are in stop/*.hpp.

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

/// What a run has spent and reached. A stop rule must decide from this alone and may not read a clock, so
/// that a replay decides in the same way.
struct progress {
  kevo::ledger ledger;               ///< what the run has spent; `elapsed_s` is the present run time
  double best_speedup = 0;           ///< the champion's speedup by its confirmations; 0 if there is none
  interval best_interval;            ///< confidence interval of `best_speedup`
  std::optional<double> best_score;  ///< the present best score, confirmed or not; nothing if there is none
  double best_sol_fraction = 0;      ///< the champion's speed-of-light fraction; 0 if unknown
  /// Evaluations since the best score last rose by more than `search_settings::improvement_margin`;
  /// confirmations are not counted.
  std::uint64_t since_improvement = 0;
  std::uint64_t since_kept = 0;          ///< evaluations and confirmations since the archive last kept one
  std::size_t archive_size = 0;          ///< number of elites in the archive
  std::size_t archive_cells = 0;         ///< number of niches of the archive; 0 if not bounded
  std::optional<double> champion_score;  ///< the champion's score by its confirmations; nothing if none
  bool best_undecided = false;           ///< whether the champion's verdict is `undecided`
};

/// One limit of a stop rule, for displays: for example "evaluations", 200 of 400.
struct stop_part {
  std::string name;  ///< name of the rule in a config
  double spent = 0;  ///< in the unit of the limit; may exceed it
  double limit = 0;  ///< amount at which the rule stops the run

  /// The used share of the limit, in [0, 1]; 1 if the limit is not positive.
  double share() const { return limit > 0 ? std::clamp(spent / limit, 0.0, 1.0) : 1; }
};

/// A stop rule. `stop` returns the reason to stop as a text for the user ("400 evaluations"), or nothing.
/// Optional members:
/// - `used(progress)`: the share of the budget that is used, as a `std::optional<double>` from 0 to 1.
/// - `parts(progress)`: the limits of the rule, each with the amount spent, as a `std::vector<stop_part>`.
/// - `observe(progress)`: called once after every result. A rule with state updates it there and not in
///   `stop`, because a replay calls `stop` less often.
///
/// The shipped rules (kevo/stop/) describe these functions only where they do more than is said here.
template <class T>
concept stop_rule = std::copy_constructible<T> && requires(T& rule, const progress& now) {
  { rule.stop(now) } -> std::same_as<std::optional<std::string>>;
};

/// A type-erased stop rule with value semantics. Its functions do what the concept `stop_rule` says. An empty
/// one never stops.
class any_stop_rule {
 public:
  any_stop_rule() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_stop_rule> && stop_rule<std::remove_cvref_t<T>>)
      any_stop_rule(T&& rule)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(new model<std::remove_cvref_t<T>>(std::forward<T>(rule))) {}

  std::optional<std::string> stop(const progress& now) { return object_ ? object_->stop(now) : std::nullopt; }
  void observe(const progress& now) {
    if (object_) object_->observe(now);
  }
  /// The share of the budget that is used, 0 to 1, for displays; nothing if the rule does not tell it.
  std::optional<double> used(const progress& now) const {
    return object_ ? object_->used(now) : std::nullopt;
  }
  /// The limits of the rule, each with the amount spent, for displays. A rule that tells only the used share
  /// has one part with limit 1 and an empty name; a rule that tells nothing has no parts.
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
    virtual interface* clone() const = 0;
    virtual std::optional<std::string> stop(const progress& now) = 0;
    virtual void observe(const progress& now) = 0;
    virtual std::optional<double> used(const progress& now) const = 0;
    virtual std::vector<stop_part> parts(const progress& now) const = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : rule(std::move(value)) {}
    interface* clone() const override {
      return new model(rule);
    }
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
