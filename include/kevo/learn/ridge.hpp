#pragma once
// A ranker for screening: ridge regression, which is fitted again when new results have arrived. Needs Eigen.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace kevo {

/// Linear regression on standardized features with a penalty on the squared weights (Hoerl & Kennard, "Ridge
/// regression: biased estimation for nonorthogonal problems", Technometrics 12(1), 1970):
///
///     w = (R + penalty / n I)^-1 r
///
/// where R holds the correlations of the features, r their correlations with the target, and n is the number
/// of pairs so far. A feature that has had one value only gets the weight 0. The class stores sums instead of
/// pairs, so its memory does not grow. The defaults are kevo's choice. Not thread-safe. `learn` is O(d^2) for
/// d features, the first `predict` after `refit` further pairs O(d^3), others O(d).
class ridge {
 public:
  double penalty = 1.0;   ///< penalty on the squared weights
  std::size_t refit = 8;  ///< number of new pairs after which the model is fitted again

  void learn(std::span<const double> features, double target) {
    const Eigen::Map<const Eigen::VectorXd> x(features.data(), static_cast<Eigen::Index>(features.size()));
    if (n_ == 0) {
      products_ = Eigen::MatrixXd::Zero(x.size(), x.size());
      sum_ = with_target_ = Eigen::VectorXd::Zero(x.size());
    }
    ++n_;
    products_.selfadjointView<Eigen::Lower>().rankUpdate(x);
    sum_ += x;
    with_target_ += target * x;
    target_sum_ += target;
  }

  double predict(std::span<const double> features) {
    if (n_ == 0) return 0;
    if (fitted_ == 0 || n_ >= fitted_ + std::max<std::size_t>(refit, 1)) fit();
    const Eigen::Map<const Eigen::VectorXd> x(features.data(), static_cast<Eigen::Index>(features.size()));
    return offset_ + weights_.dot(x - mean_);
  }

 private:
  void fit() {
    const auto n = static_cast<double>(n_);
    mean_ = sum_ / n;
    offset_ = target_sum_ / n;
    Eigen::MatrixXd covariance = products_.selfadjointView<Eigen::Lower>();
    covariance = covariance / n - mean_ * mean_.transpose();
    Eigen::VectorXd scale(mean_.size());
    for (Eigen::Index i = 0; i < scale.size(); ++i) {
      const double deviation = std::sqrt(std::max(covariance(i, i), 0.0));
      scale(i) = deviation > 1e-9 * (1 + std::abs(mean_(i))) ? 1 / deviation : 0;
    }
    Eigen::MatrixXd correlations = scale.asDiagonal() * covariance * scale.asDiagonal();
    correlations.diagonal().array() += std::max(penalty, 1e-9) / n;
    const Eigen::VectorXd joint = scale.asDiagonal() * (with_target_ / n - offset_ * mean_);
    weights_ = scale.asDiagonal() * correlations.ldlt().solve(joint);
    fitted_ = n_;
  }

  Eigen::MatrixXd products_;  // lower half of the sum of x x^T
  Eigen::VectorXd sum_, with_target_, mean_, weights_;
  double target_sum_ = 0;
  double offset_ = 0;
  std::size_t n_ = 0;
  std::size_t fitted_ = 0;
};

}  // namespace kevo
