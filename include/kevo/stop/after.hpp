#pragma once
// The stop rule `after`: a second rule that counts from the moment at which a first rule is fulfilled.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/stop.hpp>

namespace kevo::stop {

/// As soon as `first` would stop the run, `then` decides instead, and counts only what is spent from that
/// moment on. Examples: `{after: {target_speedup: 2}, then: {evaluations: 200}}` allows 200 further
/// evaluations after the target; `{after: {evaluations: 100}, then: {stall: 50}}` ignores a stall during the
/// first 100 evaluations. The moment is the first result at which `first` would stop. It does not change if
/// `first` would no longer stop later, nor in a resumed session.
class after {
 public:
  /// A rule that counts with `then` once `first` would stop.
  after(any_stop_rule first, any_stop_rule then) : first_(std::move(first)), then_(std::move(then)) {}

  void observe(const progress& now) {
    first_.observe(now);
    if (!since_) {
      if (auto reason = first_.stop(now)) since_ = now, reason_ = std::move(*reason);
    }
    if (since_) then_.observe(spent_since(now));
  }
  std::optional<std::string> stop(const progress& now) {
    if (!since_) return std::nullopt;
    auto reason = then_.stop(spent_since(now));
    if (reason) *reason += " after " + reason_;
    return reason;
  }
  /// The share of `first` makes up the lower half of the result, the share of `then` the upper half.
  std::optional<double> used(const progress& now) const {
    const auto part = since_ ? then_.used(spent_since(now)) : first_.used(now);
    if (!part) return std::nullopt;
    return (since_ ? 0.5 : 0.0) + *part / 2;
  }
  /// The parts of `first`; once it is fulfilled, also those of `then`, which count from that moment on.
  std::vector<stop_part> parts(const progress& now) const {
    std::vector<stop_part> all = first_.parts(now);
    if (!since_) return all;
    for (stop_part& part : then_.parts(spent_since(now))) all.push_back(std::move(part));
    return all;
  }

 private:
  /// The progress with everything that was spent before the moment subtracted.
  progress spent_since(const progress& now) const {
    progress p = now;
    const ledger& then = since_->ledger;
    ledger& l = p.ledger;
    l.proposals -= then.proposals;
    l.duplicates -= then.duplicates;
    l.no_proposals -= then.no_proposals;
    l.filtered -= then.filtered;
    l.evaluations -= then.evaluations;
    l.confirmations -= then.confirmations;
    l.valid -= std::min(then.valid, l.valid);  // a later evaluation may make candidates invalid
    l.elapsed_s -= then.elapsed_s;
    l.waited_s -= then.waited_s;
    l.variation -= then.variation;
    l.evaluation -= then.evaluation;
    p.since_improvement = std::min(p.since_improvement, l.evaluations);
    p.since_kept = std::min(p.since_kept, l.evaluations);
    return p;
  }

  any_stop_rule first_;
  any_stop_rule then_;
  std::optional<progress> since_;  ///< the progress at the moment at which `first` was fulfilled
  std::string reason_;
};

}  // namespace kevo::stop
