#pragma once
// What every portfolio keeps of its operators: turns, rewards and costs.

#include <cstddef>
#include <span>
#include <vector>

#include <kevo/portfolio.hpp>

namespace kevo {

/// The sums of one operator.
struct turn_sums {
  double started = 0;  ///< number of turns started
  double ended = 0;    ///< number of turns finished
  double reward = 0;
  double cost_s = 0;  ///< [s]

  double mean_reward() const { return ended > 0 ? reward / ended : 0; }
  double mean_cost_s() const { return ended > 0 ? cost_s / ended : 0; }
};

/// The sums of all operators. Grows with the operators it hears of.
class turn_book {
 public:
  void start(std::size_t index) { ++at(index).started; }
  void end(const operator_turn& turn) {
    turn_sums& sums = at(turn.index);
    ++sums.ended;
    sums.started = sums.started < sums.ended ? sums.ended : sums.started;  // turns of an earlier session
    sums.reward += turn.reward;
    sums.cost_s += turn.cost_s;
  }
  void resize(std::size_t operators) {
    if (sums_.size() < operators) sums_.resize(operators);
  }
  std::size_t size() const { return sums_.size(); }
  const turn_sums& operator[](std::size_t index) const { return sums_[index]; }

  /// Reward per second of an operator, relative to the best one's: in [0, 1]. Operators whose turns cost next
  /// to nothing are taken to cost a thousandth of the mean turn, so that a failure that costs nothing and a
  /// division by zero do not decide. 0 for operators without an ended turn, and for all if nothing was
  /// earned.
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

  /// Credits whose probabilities the policy fills in.
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

/// The indices that are available.
inline std::vector<std::size_t> indices_of(std::span<const bool> available) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < available.size(); ++i) {
    if (available[i]) result.push_back(i);
  }
  return result;
}

}  // namespace kevo
