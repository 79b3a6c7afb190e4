#pragma once
// A policy that gives a probability to each possible action of a state, and an estimate of the value of the
// state: a linear model, or a network with one hidden layer. Needs Eigen.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <Eigen/Core>

#include <kevo/random.hpp>

namespace kevo {

/// A state in which an action is to be chosen.
struct action_decision {
  Eigen::VectorXd state;    ///< features of the state
  Eigen::MatrixXd actions;  ///< a column of features for each possible action; at least one column
};

/// Scores s_k of actions, whose softmax exp(s_k) / sum_j exp(s_j) gives their probabilities, and the value of
/// a state. With x the features of the state and a_k those of action k:
///
///     hidden = 0:  s_k = w a_k + x W t_k                     value = c x + c0
///     hidden > 0:  s_k = v tanh(U [x; a_k] + b) + w a_k      value = c tanh(C x + d) + c0
///
/// where t_k are the first `crossed` features of the action, which encode its type. The products x W t_k make
/// the scores depend on the state: a term in x alone would be the same for all actions. Not thread-safe for
/// writing; the const functions may be called from several threads at once.
class action_net {
 public:
  using index = Eigen::Index;

  action_net() = default;
  /// A policy with equal scores for all actions, and the value 0 for all states. The inner weights of a
  /// network are drawn from a normal distribution whose variance is 1 / number of inputs.
  action_net(std::size_t state_size, std::size_t action_size, std::size_t crossed, std::size_t hidden,
             rng random = rng(1))
      : state_(static_cast<index>(state_size)),
        action_(static_cast<index>(action_size)),
        crossed_(static_cast<index>(std::min(crossed, action_size))),
        hidden_(static_cast<index>(hidden)) {
    weights = Eigen::VectorXd::Zero(size());
    if (hidden_ == 0) return;
    const auto fill = [&random, this](index begin, index count, index inputs) {
      for (index i = begin; i < begin + count; ++i)
        weights(i) = random.normal() / std::sqrt(static_cast<double>(inputs));
    };
    fill(action_, hidden_ * (state_ + action_), state_ + action_);
    fill(policy_size(), hidden_ * state_, state_ + 1);
  }

  /// All parameters: first those of the scores, then those of the value.
  Eigen::VectorXd weights;

  /// The number of features of a state.
  std::size_t state_size() const { return static_cast<std::size_t>(state_); }
  /// The number of features of an action.
  std::size_t action_size() const { return static_cast<std::size_t>(action_); }
  /// The number of hidden units; 0 for a linear model.
  std::size_t hidden() const { return static_cast<std::size_t>(hidden_); }
  /// The number of parameters.
  index size() const { return policy_size() + (hidden_ == 0 ? state_ + 1 : hidden_ * (state_ + 2) + 1); }

  /// The scores of the actions, in the order of the columns of `at.actions`.
  Eigen::VectorXd scores(const action_decision& at) const {
    if (hidden_ == 0)
      return at.actions.transpose() * direct() +
             at.actions.topRows(crossed_).transpose() *
                 (matrix(action_, state_, crossed_).transpose() * at.state);
    return layer(at).transpose() * vector(outer_at(), hidden_) + at.actions.transpose() * direct();
  }

  /// The probabilities of the actions: the softmax of their scores.
  Eigen::VectorXd probabilities(const action_decision& at) const {
    Eigen::VectorXd p = scores(at);
    p = (p.array() - p.maxCoeff()).exp();
    return p / p.sum();
  }

  /// The estimated value of a state.
  double value(const Eigen::VectorXd& state) const {
    const index at = policy_size();
    if (hidden_ == 0) return vector(at, state_).dot(state) + weights(at + state_);
    return vector(at + hidden_ * (state_ + 1), hidden_).dot(value_layer(state)) + weights(size() - 1);
  }

  /// Adds the gradient of a function by all parameters to `gradient`. The function is given by its
  /// derivatives by the scores (`by_scores`) and by the value (`by_value`).
  void add_gradient(const action_decision& at, const Eigen::VectorXd& by_scores, double by_value,
                    Eigen::VectorXd& gradient) const {
    const Eigen::VectorXd mixed = at.actions * by_scores;
    gradient.head(action_) += mixed;
    index next = action_;
    if (hidden_ == 0) {
      Eigen::Map<Eigen::MatrixXd>(gradient.data() + next, state_, crossed_) +=
          at.state * mixed.head(crossed_).transpose();
      next += state_ * crossed_;
      gradient.segment(next, state_) += by_value * at.state;
      gradient(next + state_) += by_value;
      return;
    }
    const Eigen::MatrixXd units = layer(at);
    Eigen::MatrixXd inner = vector(outer_at(), hidden_) * by_scores.transpose();
    inner.array() *= 1 - units.array().square();
    const Eigen::VectorXd sum = inner.rowwise().sum();
    Eigen::Map<Eigen::MatrixXd>(gradient.data() + next, hidden_, state_) += sum * at.state.transpose();
    next += hidden_ * state_;
    Eigen::Map<Eigen::MatrixXd>(gradient.data() + next, hidden_, action_) += inner * at.actions.transpose();
    next += hidden_ * action_;
    gradient.segment(next, hidden_) += sum;
    gradient.segment(next + hidden_, hidden_) += units * by_scores;
    next += 2 * hidden_;
    const Eigen::VectorXd value_units = value_layer(at.state);
    const Eigen::VectorXd outer = vector(next + hidden_ * (state_ + 1), hidden_);
    const Eigen::VectorXd below = by_value * outer.array() * (1 - value_units.array().square());
    Eigen::Map<Eigen::MatrixXd>(gradient.data() + next, hidden_, state_) += below * at.state.transpose();
    next += hidden_ * state_;
    gradient.segment(next, hidden_) += below;
    gradient.segment(next + hidden_, hidden_) += by_value * value_units;
    gradient(size() - 1) += by_value;
  }

 private:
  using const_vector = Eigen::Map<const Eigen::VectorXd>;
  using const_matrix = Eigen::Map<const Eigen::MatrixXd>;

  const_vector vector(index at, index count) const { return {weights.data() + at, count}; }
  const_matrix matrix(index at, index rows, index columns) const {
    return {weights.data() + at, rows, columns};
  }
  const_vector direct() const { return vector(0, action_); }
  index policy_size() const {
    return action_ + (hidden_ == 0 ? state_ * crossed_ : hidden_ * (state_ + action_ + 2));
  }
  index outer_at() const { return action_ + hidden_ * (state_ + action_ + 1); }

  /// A column of hidden units for each action.
  Eigen::MatrixXd layer(const action_decision& at) const {
    const Eigen::VectorXd same =
        matrix(action_, hidden_, state_) * at.state + vector(action_ + hidden_ * (state_ + action_), hidden_);
    Eigen::MatrixXd units = matrix(action_ + hidden_ * state_, hidden_, action_) * at.actions;
    units.colwise() += same;
    return units.array().tanh();
  }
  Eigen::VectorXd value_layer(const Eigen::VectorXd& state) const {
    const index at = policy_size();
    return (matrix(at, hidden_, state_) * state + vector(at + hidden_ * state_, hidden_)).array().tanh();
  }

  index state_ = 0;
  index action_ = 0;
  index crossed_ = 0;
  index hidden_ = 0;
};

}  // namespace kevo
