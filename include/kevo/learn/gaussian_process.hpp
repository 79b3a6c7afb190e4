#pragma once
// A ranker for screening: a small Gaussian process over the latest results. Needs Eigen.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace kevo {

/// Gaussian process regression (Rasmussen & Williams, "Gaussian Processes for Machine Learning", 2006,
/// algorithm 2.1) with a squared-exponential kernel on standardized features. It uses the latest `memory`
/// pairs. The length scale of the kernel is the median distance of the points. The variance of the signal is
/// that of the targets, and the variance of the noise is the share `noise` of it. The prediction is mean +
/// optimism * standard deviation (GP-UCB): with `optimism` = 0 it exploits; greater values prefer points
/// about which little is known. The default values are kevo's choices. Not thread-safe. The first `predict`
/// after `refit` further pairs is O(memory^3 + memory^2 d), others O(memory d), with optimism O(memory^2).
class gaussian_process {
 public:
  std::size_t memory = 200;  ///< maximum number of pairs, the latest ones
  double noise = 0.1;        ///< variance of the noise as a share of the variance of the targets
  double optimism = 0;       ///< factor of the standard deviation in a prediction
  std::size_t refit = 8;     ///< number of new pairs after which the process is fitted again

  void learn(std::span<const double> features, double target) {
    pairs_.emplace_back(std::vector<double>(features.begin(), features.end()), target);
    if (pairs_.size() > std::max<std::size_t>(memory, 2)) pairs_.pop_front();
    ++learned_;
  }

  double predict(std::span<const double> features) {
    if (pairs_.empty()) return 0;
    if (fitted_ == 0 || learned_ >= fitted_ + std::max<std::size_t>(refit, 1)) fit();
    const Eigen::VectorXd x = standard(features);
    Eigen::VectorXd near(points_.rows());
    for (Eigen::Index i = 0; i < near.size(); ++i)
      near(i) = kernel((points_.row(i).transpose() - x).squaredNorm());
    const double mean = offset_ + deviation_ * near.dot(weights_);
    if (!(optimism > 0)) return mean;
    const Eigen::VectorXd v = factor_->matrixL().solve(near);
    return mean + optimism * deviation_ * std::sqrt(std::max(1 - v.squaredNorm(), 0.0));
  }

 private:
  Eigen::VectorXd standard(std::span<const double> features) const {
    const Eigen::Map<const Eigen::VectorXd> x(features.data(), static_cast<Eigen::Index>(features.size()));
    return ((x - mean_).array() * scale_.array()).matrix();
  }
  double kernel(double squared) const { return std::exp(-squared / (2 * length_squared_)); }

  void fit() {
    const auto n = static_cast<Eigen::Index>(pairs_.size());
    const auto d = static_cast<Eigen::Index>(pairs_.front().first.size());
    Eigen::MatrixXd raw(n, d);
    Eigen::VectorXd targets(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto& [features, target] = pairs_[static_cast<std::size_t>(i)];
      raw.row(i) = Eigen::Map<const Eigen::RowVectorXd>(features.data(), d);
      targets(i) = target;
    }
    mean_ = raw.colwise().mean().transpose();
    const Eigen::MatrixXd centred = raw.rowwise() - mean_.transpose();
    scale_ = (centred.colwise().squaredNorm() / static_cast<double>(n)).cwiseSqrt().transpose();
    for (double& s : scale_) s = s > 1e-9 ? 1 / s : 0;
    points_ = centred * scale_.asDiagonal();
    offset_ = targets.mean();
    deviation_ = std::sqrt((targets.array() - offset_).square().mean());

    const Eigen::VectorXd norms = points_.rowwise().squaredNorm();
    Eigen::MatrixXd squared = -2 * points_ * points_.transpose();
    squared.colwise() += norms;
    squared.rowwise() += norms.transpose();
    std::vector<double> distances;
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index k = 0; k < i; ++k) distances.push_back(std::max(squared(i, k), 0.0));
    }
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    length_squared_ = distances.empty() || !(*middle > 0) ? 1 : *middle;
    Eigen::MatrixXd covariance = squared.cwiseMax(0).unaryExpr([this](double s) { return kernel(s); });
    covariance.diagonal().array() += std::max(noise, 1e-6);
    factor_.emplace(covariance);
    weights_ = deviation_ > 0
                   ? Eigen::VectorXd(factor_->solve(((targets.array() - offset_) / deviation_).matrix()))
                   : Eigen::VectorXd::Zero(n);
    fitted_ = learned_;
  }

  std::deque<std::pair<std::vector<double>, double>> pairs_;
  Eigen::MatrixXd points_;
  Eigen::VectorXd mean_, scale_, weights_;
  std::optional<Eigen::LLT<Eigen::MatrixXd>> factor_;  // an empty one may not even be copied
  double offset_ = 0;
  double deviation_ = 0;
  double length_squared_ = 1;
  std::size_t learned_ = 0;
  std::size_t fitted_ = 0;
};

}  // namespace kevo
