#pragma once
// The role of a proposal filter: it decides from the sources alone, before any measurement, which proposals
// are evaluated. This header has the concept `proposal_filter` and the type-erased `any_proposal_filter`; the
// shipped filter is in filter/proposal_net.hpp.

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/detail/clone_ptr.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// A candidate that has not been evaluated yet. `source` is never null.
struct unevaluated {
  candidate_id candidate = no_candidate;
  std::shared_ptr<const program> source;
};

/// A proposal that is not evaluated, with the reason as a short text for display.
struct dropped_proposal {
  candidate_id candidate = no_candidate;
  std::string reason;
  friend bool operator==(const dropped_proposal&, const dropped_proposal&) = default;
};

/// The decision of a filter about a batch. Each candidate of the batch is exactly once in exactly one of the
/// two lists. The candidates in `passed` are evaluated in the order of the list.
struct filter_verdict {
  std::vector<candidate_id> passed;       ///< in the order of their evaluation
  std::vector<dropped_proposal> dropped;  ///< never evaluated
};

/// A proposal filter. `filter` decides about a batch of at least one proposal. `remember` passes it a
/// candidate that is evaluated without its decision: a seed. Both are called on the coordinator's thread. A
/// decision may depend only on the earlier calls and their arguments, because a replay repeats these calls.
template <class T>
concept proposal_filter = std::copy_constructible<T> &&
    requires(T& policy, const unevaluated& one, std::span<const unevaluated> batch) {
  policy.remember(one);
  { policy.filter(batch) } -> std::same_as<filter_verdict>;
};

/// Type-erased proposal filter with value semantics: a copy copies the filter. Its functions do what the
/// concept `proposal_filter` says.
class any_proposal_filter {
 public:
  any_proposal_filter() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_proposal_filter> &&
           proposal_filter<std::remove_cvref_t<T>>)
      // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
      any_proposal_filter(T&& policy)
      : object_(new model<std::remove_cvref_t<T>>(std::forward<T>(policy))) {}

  void remember(const unevaluated& one) { object_->remember(one); }
  filter_verdict filter(std::span<const unevaluated> batch) { return object_->filter(batch); }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual interface* clone() const = 0;
    virtual void remember(const unevaluated& one) = 0;
    virtual filter_verdict filter(std::span<const unevaluated> batch) = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : policy(std::move(value)) {}
    interface* clone() const override {
      return new model(policy);
    }
    void remember(const unevaluated& one) override { policy.remember(one); }
    filter_verdict filter(std::span<const unevaluated> batch) override { return policy.filter(batch); }
    T policy;
  };
  detail::clone_ptr<interface> object_;
};

/// How a search filters its proposals. The filter gets `batch` proposals at a time; it gets fewer if no
/// further proposal can be made before something is evaluated, for example at the end of a selector's round.
/// Proposals whose program is known already are not passed to the filter, because they are not evaluated
/// again. Dropped proposals stay in the search graph, so that their programs count as known from then on.
struct filtering {
  any_proposal_filter filter;
  std::size_t batch = 1;  ///< number of proposals that are filtered together
};

}  // namespace kevo
