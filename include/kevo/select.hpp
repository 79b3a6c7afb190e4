#pragma once
// The selector's role: look at the population and say what to do next, vary or measure again. Here are the
// concept and the erased type; the shipped policies are in select/*.hpp.

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/candidate.hpp>
#include <kevo/detail/clone_ptr.hpp>
#include <kevo/population.hpp>
#include <kevo/random.hpp>
#include <kevo/score.hpp>

namespace kevo {

/// How much of the past an operator is shown (KernelEvolve's memory operator).
enum class memory_scope : std::uint8_t { parent_trajectory, siblings, both, clean_slate };

inline constexpr std::array<std::string_view, 4> memory_scope_names = {"parent_trajectory", "siblings",
                                                                       "both", "clean_slate"};
inline constexpr std::string_view to_string(memory_scope scope) {
  return memory_scope_names[static_cast<std::size_t>(scope)];
}

/// A selector's decision. To vary: `parents` (at least one) and `inspirations`; to measure again:
/// `reevaluate` and exactly one parent.
struct selection {
  std::vector<candidate_id> parents;
  std::vector<candidate_id> inspirations;
  memory_scope scope = memory_scope::parent_trajectory;
  bool reevaluate = false;
  friend bool operator==(const selection&, const selection&) = default;
};

/// What became of a candidate: told to selectors, portfolios and learned policies after every evaluation.
struct observation {
  candidate_id candidate = no_candidate;
  std::vector<candidate_id> parents;
  operator_index made_by = seed_operator;
  kevo::outcome outcome = kevo::outcome::build_failed;
  double score = 0;                    ///< 0 unless valid
  std::optional<double> parent_score;  ///< the best score of a valid parent; nothing if there is none
  archive_result archived;
  double cost_s = 0;      ///< [s] variation and evaluation together
  std::uint64_t job = 0;  ///< ticket of the variation that made it, at its first evaluation; else 0

  /// Whether the candidate is valid and has a finite score, so that the population ranks it.
  bool ranked() const { return outcome == kevo::outcome::valid && std::isfinite(score); }
  /// The gain over the best parent, relative to the magnitude of its score, in [0, 1]; 1 for a valid
  /// candidate without a valid parent.
  double gain() const {
    if (!ranked()) return 0;
    return parent_score ? std::clamp(relative_gain(score, *parent_score), 0.0, 1.0) : 1;
  }
};

/// A selection policy. `select` must not keep references into the view; it is called on the coordinator's
/// thread alone, when at least one candidate is ranked. What it answers is recorded and carried out: an
/// answer to measure again waits, if need be, until the driver can evaluate, and the selector is not asked
/// meanwhile. Optional: `observe(const observation&)`.
template <class T>
concept selector = std::copy_constructible<T> &&
    requires(T& policy, const population_view& view, rng& random) {
  { policy.select(view, random) } -> std::same_as<selection>;
};

/// Any selector, as a value.
class any_selector {
 public:
  any_selector() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_selector> && selector<std::remove_cvref_t<T>>)
      any_selector(T&& policy)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(std::make_unique<model<std::remove_cvref_t<T>>>(std::forward<T>(policy))) {}

  selection select(const population_view& view, rng& random) { return object_->select(view, random); }
  void observe(const observation& seen) { object_->observe(seen); }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual std::unique_ptr<interface> clone() const = 0;
    virtual selection select(const population_view& view, rng& random) = 0;
    virtual void observe(const observation& seen) = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : policy(std::move(value)) {}
    std::unique_ptr<interface> clone() const override { return std::make_unique<model>(policy); }
    selection select(const population_view& view, rng& random) override {
      return policy.select(view, random);
    }
    void observe(const observation& seen) override {
      if constexpr (requires { policy.observe(seen); }) policy.observe(seen);
    }
    T policy;
  };
  detail::clone_ptr<interface> object_;
};

}  // namespace kevo
