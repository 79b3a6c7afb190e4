#pragma once
// The sums of turns, rewards and costs of each operator, which every shipped portfolio keeps.

#include <cstddef>
#include <span>
#include <vector>

#include <kevo/portfolio.hpp>

namespace kevo {

/// The sums over all turns of one operator.
struct turn_sums {
  double started = 0;  ///< number of turns started
  double ended = 0;    ///< number of turns finished
  double reward = 0;   ///< sum of the rewards of finished turns
  double cost_s = 0;   ///< [s] sum of the costs of finished turns

  /// The mean reward of a finished turn; 0 if there is none.
  double mean_reward() const { return ended > 0 ? reward / ended : 0; }
  /// [s] The mean cost of a finished turn; 0 if there is none.
  double mean_cost_s() const { return ended > 0 ? cost_s / ended : 0; }
};

/// The sums of all operators. It grows when an operator with a greater index appears.
class turn_statistics {
 public:
  /// Counts a turn that an operator begins.
  void start(std::size_t index) { ++at(index).started; }
  /// Adds the result of a finished turn.
  void end(const operator_turn& turn) {
    turn_sums& sums = at(turn.index);
    ++sums.ended;
    sums.started = sums.started < sums.ended ? sums.ended : sums.started;  // a turn without `start`
    sums.reward += turn.reward;
    sums.cost_s += turn.cost_s;
  }
  /// Adds operators without a turn until there are at least `operators`.
  void resize(std::size_t operators) {
    if (sums_.size() < operators) sums_.resize(operators);
  }
  /// The number of operators.
  std::size_t size() const { return sums_.size(); }
  /// The sums of the operator with this index, which must be less than size().
  const turn_sums& operator[](std::size_t index) const { return sums_[index]; }

  /// The reward per second of each operator, divided by that of the best operator; in [0, 1]. The mean cost
  /// of a turn of an operator counts as at least a thousandth of the mean cost of all turns, so that turns
  /// without cost do not lead to a division by zero or to an unlimited value. 0 for operators without a
  /// finished turn, and for all operators if there was no reward so far.
  std::vector<double> merits() const {
    double turns = 0, cost = 0;
    for (const turn_sums& s : sums_) turns += s.ended, cost += s.cost_s;
    const double least = turns > 0 && cost > 0 ? 1e-3 * cost / turns : 1;
    std::vector<double> merits(sums_.size());
    double best = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const double price = sums_[i].mean_cost_s() > least ? sums_[i].mean_cost_s() : least;
      merits[i] = sums_[i].mean_reward() > 0 ? sums_[i].mean_reward() / price : 0;
      if (merits[i] > best) best = merits[i];
    }
    if (best > 0) {
      for (double& m : merits) m /= best;
    }
    return merits;
  }

  /// The credits with probability 0, which the policy replaces.
  std::vector<operator_credit> credits() const {
    std::vector<operator_credit> result;
    for (const turn_sums& s : sums_) result.push_back({s.ended, s.mean_reward(), s.mean_cost_s(), 0});
    return result;
  }

 private:
  turn_sums& at(std::size_t index) {
    resize(index + 1);
    return sums_[index];
  }
  std::vector<turn_sums> sums_;
};

/// The indices of the available operators.
inline std::vector<std::size_t> indices_of(std::span<const bool> available) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < available.size(); ++i) {
    if (available[i]) result.push_back(i);
  }
  return result;
}

}  // namespace kevo
