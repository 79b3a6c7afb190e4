#pragma once
// Selectors look at the population and decide what to do next: vary a candidate or measure one again. This
// header has the concept and the type-erased `any_selector`; the shipped policies are in select/*.hpp.

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

/// Which earlier candidates an operator is shown (KernelEvolve's memory operator). `parent_trajectory`: the
/// ancestors of the parent. `siblings`: the earlier children of the parent, which are siblings of the
/// candidate to be made. `both`: ancestors and siblings. `notes`: neither, but the notes of the run and the
/// inspirations. `clean_slate`: neither, no notes of the run and no inspirations.
enum class memory_scope : std::uint8_t { parent_trajectory, siblings, both, clean_slate, notes };

/// The names of the scopes, in the order of `memory_scope`.
inline constexpr std::array<std::string_view, 5> memory_scope_names = {"parent_trajectory", "siblings",
                                                                       "both", "clean_slate", "notes"};
/// The name of a scope, as configs write it.
inline constexpr std::string_view to_string(memory_scope scope) {
  return memory_scope_names[static_cast<std::size_t>(scope)];
}

/// A selector's decision. To vary candidates: `parents` (at least one) and `inspirations`. To measure a
/// candidate again: `reevaluate`, with that candidate as the only parent.
struct selection {
  std::vector<candidate_id> parents;
  std::vector<candidate_id> inspirations;  ///< further candidates that the operator may learn from
  memory_scope scope = memory_scope::parent_trajectory;  ///< earlier candidates that the operator is shown
  bool reevaluate = false;                               ///< whether the parent is measured again
  friend bool operator==(const selection&, const selection&) = default;
};

/// The result of an evaluation of a candidate, as selectors and operators receive it.
struct observation {
  candidate_id candidate = no_candidate;
  std::vector<candidate_id> parents;
  operator_index made_by = seed_operator;               ///< the operator that made the candidate
  kevo::outcome outcome = kevo::outcome::build_failed;  ///< of this evaluation
  double score = 0;                    ///< the candidate's score in the population; 0 unless valid
  std::optional<double> parent_score;  ///< the best score of a valid parent; nothing if there is none
  archive_result archived;             ///< the answer of the archive
  double cost_s = 0;       ///< [s] wall time of the evaluation; at the first one, plus that of the turn
  std::uint64_t job = 0;   ///< at the first evaluation: ticket of the turn that made it; else 0
  double measured = 0;     ///< the score of this evaluation alone (`score` may be an average); 0 unless valid
  bool confirmed = false;  ///< whether this evaluation was a confirmation
  std::shared_ptr<const evaluation>
      result{};  ///< this evaluation; null if an operator is tried without a run

  /// Whether the candidate is valid and has a finite score, so that the population ranks it.
  bool ranked() const { return outcome == kevo::outcome::valid && std::isfinite(score); }
  /// The gain over the best parent, relative to the magnitude of its score, in [0, 1]; 1 for a valid
  /// candidate without a valid parent.
  double gain() const {
    if (!ranked()) return 0;
    return parent_score ? std::clamp(relative_gain(score, *parent_score), 0.0, 1.0) : 1;
  }
};

/// The work of a search that is not finished yet. Seeds and confirmations do not count.
struct pending_work {
  std::size_t variations = 0;    ///< turns whose result has not been told yet
  std::size_t proposals = 0;     ///< proposed candidates whose first evaluation has not ended
  std::size_t measurements = 0;  ///< re-evaluations that the selector requested and that have not ended

  /// Whether nothing is pending.
  bool none() const { return variations == 0 && proposals == 0 && measurements == 0; }
};

/// A selection policy. `select` is called on the coordinator's thread only, and only when at least one
/// candidate is ranked. It must not keep references into the view. Each decision is recorded and carried out.
/// A decision to measure again waits until the driver can evaluate, and the selector is not called until
/// then. The first parent may be a candidate that failed: an operator that repairs then varies it; if none is
/// available, a valid candidate drawn at random takes its place. Optional members:
/// - `observe(const observation&)`, or `observe(const observation&, const population_view&)` with the view
///   after the evaluation: is told the result of every evaluation.
/// - `bool ready(const pending_work&) const`: false while the selector waits for results, as at the end of a
///   round. When nothing is pending, `select` is called whatever `ready` says.
///
/// The shipped selectors (kevo/select/) describe these functions only where they do more than is said here.
template <class T>
concept selector = std::copy_constructible<T> &&
    requires(T& policy, const population_view& view, rng& random) {
  { policy.select(view, random) } -> std::same_as<selection>;
};

/// A type-erased selector with value semantics. Its functions do what the concept `selector` says; optional
/// members that the held selector does not have do nothing, and `ready` is then true.
class any_selector {
 public:
  any_selector() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_selector> && selector<std::remove_cvref_t<T>>)
      any_selector(T&& policy)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(new model<std::remove_cvref_t<T>>(std::forward<T>(policy))) {}

  selection select(const population_view& view, rng& random) { return object_->select(view, random); }
  void observe(const observation& seen, const population_view& view) { object_->observe(seen, view); }
  bool ready(const pending_work& pending) const { return object_->ready(pending); }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual interface* clone() const = 0;
    virtual selection select(const population_view& view, rng& random) = 0;
    virtual void observe(const observation& seen, const population_view& view) = 0;
    virtual bool ready(const pending_work& pending) const = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : policy(std::move(value)) {}
    interface* clone() const override {
      return new model(policy);
    }
    selection select(const population_view& view, rng& random) override {
      return policy.select(view, random);
    }
    void observe(const observation& seen, const population_view& view) override {
      if constexpr (requires { policy.observe(seen, view); }) {
        policy.observe(seen, view);
      } else if constexpr (requires { policy.observe(seen); }) {
        policy.observe(seen);
      }
    }
    bool ready(const pending_work& pending) const override {
      if constexpr (requires { policy.ready(pending); }) return policy.ready(pending);
      return true;
    }
    T policy;
  };
  detail::clone_ptr<interface> object_;
};

}  // namespace kevo
