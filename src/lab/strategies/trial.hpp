#pragma once
// A recorded space as a search strategy sees it: it asks for the cost of a setting, and each first question
// is an evaluation.

#include <cstddef>
#include <limits>
#include <unordered_set>
#include <vector>

#include <kevo/lab/recorded_space.hpp>
#include <kevo/random.hpp>

namespace kevo::strategies {

class trial {
 public:
  /// Ends after `most` different settings, or when all are known.
  trial(const recorded_space& space, std::size_t most)
      : space_(space), most_(most < space.size() ? most : space.size()) {}

  const recorded_space& space() const { return space_; }
  /// Whether no more settings are evaluated. Also after very many questions whose answers were known.
  bool done() const { return asked_.size() >= most_ || questions_ > 1000 * most_ + 1000; }
  /// The settings that were evaluated, as places in the space, in their order.
  const std::vector<std::size_t>& asked() const { return asked_; }
  bool is_known(std::size_t place) const { return known_.contains(place); }

  /// The time, or one over the rate; infinite for what failed, for what is not in the space, and when all is
  /// done.
  double cost(const recorded_setting& setting) {
    ++questions_;
    const auto place = space_.find(setting);
    if (!place) return std::numeric_limits<double>::infinity();
    if (!known_.contains(*place)) {
      if (done()) return std::numeric_limits<double>::infinity();
      known_.insert(*place);
      asked_.push_back(*place);
    }
    const double speed = space_.speed(*place);
    return speed > 0 ? 1 / speed : std::numeric_limits<double>::infinity();
  }

  /// Any setting of the space.
  recorded_setting any(rng& random) const { return space_.at(random.below(space_.size())).setting; }
  /// All settings of the space that differ in one parameter, in random order.
  std::vector<recorded_setting> neighbours(const recorded_setting& of, rng& random) const;
  /// One of them; another setting if there is none.
  recorded_setting neighbour(const recorded_setting& of, rng& random) const;

 private:
  const recorded_space& space_;
  std::size_t most_;
  std::size_t questions_ = 0;
  std::vector<std::size_t> asked_;
  std::unordered_set<std::size_t> known_;
};

/// A setting with its cost.
struct judged {
  recorded_setting setting;
  double cost = std::numeric_limits<double>::infinity();
};

// Each searches until the trial is done.
void genetic(trial& on, rng& random);
void annealing(trial& on, rng& random);
void local_search(trial& on, rng& random);
void differential_evolution(trial& on, rng& random);
void tpe(trial& on, rng& random);

}  // namespace kevo::strategies
