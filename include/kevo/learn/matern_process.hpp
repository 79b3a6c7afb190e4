#pragma once
// A Gaussian process that learns a length scale for each feature. The operator `tune` uses it to predict the
// results of settings. Needs Eigen.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace kevo {

/// A prediction, with one element for each row that was given to `predict`.
struct process_prediction {
  Eigen::VectorXd mean;       ///< expected targets
  Eigen::VectorXd deviation;  ///< standard deviations of the targets
};

/// Gaussian process regression (Rasmussen & Williams, "Gaussian Processes for Machine Learning", 2006,
/// algorithm 2.1) with a Matern 5/2 kernel and one length scale for each feature (their equation 4.17,
/// section 5.1). Features should lie in [0, 1]. Targets are standardized, so that the variance of the signal
/// is 1. `learn_lengths` maximizes the marginal likelihood (their equation 5.9) times a log-normal prior on
/// lengths and noise, in a fixed number of steps of the optimizer Rprop, so that equal data always give equal
/// lengths. The prior keeps the lengths moderate for features about which little is known. Number of steps
/// and prior are kevo's choices. Not thread-safe for writing.
class matern_process {
 public:
  /// Learns the lengths and the noise from n rows of d features and their targets, in O(steps * (n^3 + d
  /// n^2)).
  void learn_lengths(const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets, int steps = 15);

  /// Fits the process to rows and targets with the present lengths. `errors` holds the standard deviation of
  /// each target in addition to the common noise; empty means 0. O(n^3).
  void fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets, const Eigen::VectorXd& errors = {});

  /// Predicts the target of each row. Requires `fit`. O(n^2 + d n) for each row.
  process_prediction predict(const Eigen::MatrixXd& rows) const;

  /// The logarithms of the lengths, followed by the logarithm of the noise as a share of the variance, as
  /// `learn_lengths` has set them. Empty before.
  const std::vector<double>& logarithms() const { return logarithms_; }
  /// Sets them without learning, for example to values that were learned before.
  void set_logarithms(std::vector<double> known) { logarithms_ = std::move(known); }

 private:
  static constexpr double jitter = 1e-6;
  static constexpr double usual_noise = 0.01;

  static Eigen::ArrayXXd squared_distances(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    const Eigen::VectorXd left = a.rowwise().squaredNorm();
    const Eigen::VectorXd right = b.rowwise().squaredNorm();
    Eigen::MatrixXd all = -2 * a * b.transpose();
    all.colwise() += left;
    all.rowwise() += right.transpose();
    return all.cwiseMax(0).array();
  }
  static Eigen::MatrixXd kernel(const Eigen::ArrayXXd& squared) {
    const Eigen::ArrayXXd r = (5 * squared).sqrt();
    return ((1 + r + r.square() / 3) * (-r).exp()).matrix();
  }
  /// The gradient of the logarithm of posterior density by `at`; sets `density`.
  static Eigen::VectorXd gradient(const std::vector<Eigen::ArrayXXd>& squared, const Eigen::VectorXd& y,
                                  const Eigen::VectorXd& at, const Eigen::VectorXd& usual, double& density);

  Eigen::MatrixXd scaled(const Eigen::MatrixXd& rows) const {
    Eigen::VectorXd scale(rows.cols());
    for (Eigen::Index j = 0; j < scale.size(); ++j)
      scale(j) = std::exp(-logarithms_[static_cast<std::size_t>(j)]);
    return rows * scale.asDiagonal();
  }
  static Eigen::VectorXd usual_logarithms(Eigen::Index features) {
    Eigen::VectorXd usual = Eigen::VectorXd::Constant(
        features + 1, std::log(0.5 * std::sqrt(std::max(1.0, static_cast<double>(features)) / 2)));
    usual(features) = std::log(usual_noise);
    return usual;
  }

  std::vector<double> logarithms_;
  Eigen::MatrixXd points_;
  Eigen::VectorXd weights_;
  Eigen::LLT<Eigen::MatrixXd> factor_{Eigen::MatrixXd::Identity(1, 1)};
  double offset_ = 0;
  double deviation_ = 1;
};

inline Eigen::VectorXd matern_process::gradient(const std::vector<Eigen::ArrayXXd>& squared,
                                                const Eigen::VectorXd& y, const Eigen::VectorXd& at,
                                                const Eigen::VectorXd& usual, double& density) {
  constexpr double length_spread = 0.8;  // standard deviations of the prior
  constexpr double noise_spread = 1.5;
  const Eigen::Index n = y.size();
  const auto d = static_cast<Eigen::Index>(squared.size());
  Eigen::ArrayXXd sum = Eigen::ArrayXXd::Zero(n, n);
  for (Eigen::Index j = 0; j < d; ++j) sum += squared[static_cast<std::size_t>(j)] * std::exp(-2 * at(j));
  const Eigen::ArrayXXd r = (5 * sum).sqrt();
  const Eigen::ArrayXXd decay = (-r).exp();
  Eigen::MatrixXd covariance = ((1 + r + r.square() / 3) * decay).matrix();
  const double noise = std::exp(at(d));
  covariance.diagonal().array() += noise + jitter;
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  const Eigen::VectorXd weights = factor.solve(y);
  const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(n, n));
  Eigen::VectorXd spread = Eigen::VectorXd::Constant(d + 1, length_spread);
  spread(d) = noise_spread;
  const Eigen::ArrayXd away = ((at - usual).array() / spread.array());
  density =
      -0.5 * y.dot(weights) - factor.matrixLLT().diagonal().array().log().sum() - 0.5 * away.square().sum();
  const Eigen::ArrayXXd pull = (weights * weights.transpose() - inverse).array();
  // The derivative of the kernel by the logarithm of length j is 5/3 (1 + r) exp(-r) times squared[j] /
  // length^2.
  const Eigen::ArrayXXd common = pull * (5.0 / 3 * (1 + r) * decay);
  Eigen::VectorXd slope(d + 1);
  for (Eigen::Index j = 0; j < d; ++j)
    slope(j) = 0.5 * (common * squared[static_cast<std::size_t>(j)]).sum() * std::exp(-2 * at(j));
  slope(d) = 0.5 * pull.matrix().trace() * noise;
  return slope - (away / spread.array()).matrix();
}

inline void matern_process::learn_lengths(const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets,
                                          int steps) {
  const Eigen::Index n = rows.rows();
  const Eigen::Index d = rows.cols();
  const Eigen::VectorXd usual = usual_logarithms(d);
  Eigen::VectorXd at = usual;
  Eigen::VectorXd best = usual;
  const Eigen::ArrayXd centred = targets.array() - (n > 0 ? targets.mean() : 0.0);
  const double deviation = n > 0 ? std::sqrt(centred.square().mean()) : 0.0;
  if (deviation > 1e-12) {
    const Eigen::VectorXd y = (centred / deviation).matrix();
    std::vector<Eigen::ArrayXXd> squared;
    for (Eigen::Index j = 0; j < d; ++j) {
      const Eigen::VectorXd column = rows.col(j);
      squared.emplace_back((column.replicate(1, n) - column.transpose().replicate(n, 1)).array().square());
    }
    Eigen::VectorXd step = Eigen::VectorXd::Constant(d + 1, 0.25);
    Eigen::VectorXd before = Eigen::VectorXd::Zero(d + 1);
    double highest = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < steps; ++i) {
      double density = 0;
      const Eigen::VectorXd slope = gradient(squared, y, at, usual, density);
      if (!std::isfinite(density)) break;
      if (density > highest) {
        highest = density;
        best = at;
      }
      for (Eigen::Index j = 0; j <= d; ++j) {
        const double turn = slope(j) * before(j);
        if (turn > 0) step(j) = std::min(1.2 * step(j), 0.6);
        if (turn < 0) step(j) *= 0.5;
        at(j) += std::copysign(step(j), slope(j));
      }
      at(d) = std::clamp(at(d), std::log(1e-5), std::log(0.5));
      before = slope;
    }
  }
  logarithms_.assign(best.begin(), best.end());
}

inline void matern_process::fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets,
                                const Eigen::VectorXd& errors) {
  if (logarithms_.size() != static_cast<std::size_t>(rows.cols()) + 1) {
    const Eigen::VectorXd usual = usual_logarithms(rows.cols());
    logarithms_.assign(usual.begin(), usual.end());
  }
  points_ = scaled(rows);
  offset_ = targets.mean();
  deviation_ = std::sqrt((targets.array() - offset_).square().mean());
  if (!(deviation_ > 1e-12)) deviation_ = 1;
  Eigen::MatrixXd covariance = kernel(squared_distances(points_, points_));
  covariance.diagonal().array() += std::exp(logarithms_.back()) + jitter;
  if (errors.size() == targets.size())
    covariance.diagonal().array() += (errors.array() / deviation_).square();
  factor_.compute(covariance);
  weights_ = factor_.solve(((targets.array() - offset_) / deviation_).matrix());
}

inline process_prediction matern_process::predict(const Eigen::MatrixXd& rows) const {
  const Eigen::MatrixXd shared = kernel(squared_distances(points_, scaled(rows)));
  process_prediction made;
  made.mean = ((shared.transpose() * weights_) * deviation_).array() + offset_;
  const Eigen::MatrixXd explained = factor_.matrixL().solve(shared);
  made.deviation =
      ((1 - explained.colwise().squaredNorm().array()).max(1e-10).sqrt() * deviation_).matrix().transpose();
  return made;
}

}  // namespace kevo
