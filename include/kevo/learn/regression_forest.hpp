#pragma once
// A random forest for regression that also estimates the uncertainty of its predictions. Needs Eigen.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <kevo/learn/matern_process.hpp>
#include <kevo/random.hpp>

namespace kevo {

/// A random forest (Breiman, "Random forests", 2001). Each tree is grown on a bootstrap sample. A split point
/// is drawn uniformly between two neighbouring values of a feature, so that the trees differ where there are
/// no data. The standard deviation of a prediction is computed from the leaves of all trees (Hutter et al.,
/// "Algorithm runtime prediction: methods and evaluation", 2014, section 4.3.2). Equal data give equal
/// forests. `fit` is O(trees d n log^2 n) for n rows of d features; `predict` is O(trees log n) for each row
/// and may be called from several threads at once.
class regression_forest {
 public:
  std::size_t trees = 30;  ///< number of trees
  double features = 0.8;   ///< share of the features that are tried at each split

  /// Grows the trees from n rows of features and their targets; n must be at least 1. Replaces earlier trees.
  void fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets) {
    const auto n = static_cast<std::size_t>(rows.rows());
    grown_.assign(trees, {});
    for (std::size_t t = 0; t < trees; ++t) {
      rng random = rng(n).split(t);
      std::vector<Eigen::Index> sample(n);
      for (auto& one : sample) one = static_cast<Eigen::Index>(random.below(n));
      grow(grown_[t], rows, targets, sample, random);
    }
  }

  /// Predicts the target of each row. Requires `fit`.
  process_prediction predict(const Eigen::MatrixXd& rows) const {
    process_prediction made{Eigen::VectorXd::Zero(rows.rows()), Eigen::VectorXd::Zero(rows.rows())};
    const auto count = static_cast<double>(grown_.size());
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      double sum = 0;
      double squares = 0;
      for (const auto& tree : grown_) {
        const node* at = &tree.front();
        while (at->feature >= 0) at = &tree[rows(i, at->feature) <= at->threshold ? at->below : at->above];
        sum += at->mean;
        squares += at->mean * at->mean + at->variance;
      }
      made.mean(i) = sum / count;
      made.deviation(i) = std::sqrt(std::max(squares / count - made.mean(i) * made.mean(i), 1e-10));
    }
    return made;
  }

 private:
  struct node {
    Eigen::Index feature = -1;  ///< below 0: a leaf
    double threshold = 0;
    std::uint32_t below = 0;
    std::uint32_t above = 0;
    double mean = 0;
    double variance = 0;
  };
  struct split {
    Eigen::Index feature = -1;
    double threshold = 0;
    double gain = 1e-12;
  };

  /// Improves `best` by the best split at `feature`; whether the feature has two values at least.
  static bool try_feature(Eigen::Index feature, const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets,
                          std::span<const Eigen::Index> sample, double sum, rng& random, split& best) {
    std::vector<std::pair<double, double>> pairs;
    pairs.reserve(sample.size());
    for (const Eigen::Index i : sample) pairs.emplace_back(rows(i, feature), targets(i));
    std::sort(pairs.begin(), pairs.end());
    if (pairs.front().first == pairs.back().first) return false;
    const auto n = static_cast<double>(pairs.size());
    double left = 0;
    for (std::size_t i = 0; i + 1 < pairs.size(); ++i) {
      left += pairs[i].second;
      if (pairs[i].first == pairs[i + 1].first) continue;
      const auto k = static_cast<double>(i + 1);
      const double gain = left * left / k + (sum - left) * (sum - left) / (n - k) - sum * sum / n;
      if (gain <= best.gain) continue;
      best = {feature, random.uniform(pairs[i].first, pairs[i + 1].first), gain};
    }
    return true;
  }

  std::uint32_t grow(std::vector<node>& tree, const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets,
                     std::span<Eigen::Index> sample, rng& random) const {
    const auto id = static_cast<std::uint32_t>(tree.size());
    tree.emplace_back();
    double sum = 0;
    double squares = 0;
    for (const Eigen::Index i : sample) {
      sum += targets(i);
      squares += targets(i) * targets(i);
    }
    const auto n = static_cast<double>(sample.size());
    tree[id].mean = sum / n;
    tree[id].variance = std::max(squares / n - tree[id].mean * tree[id].mean, 0.0);
    if (sample.size() < 3 || tree[id].variance < 1e-10) return id;
    std::vector<Eigen::Index> order(static_cast<std::size_t>(rows.cols()));
    for (std::size_t j = 0; j < order.size(); ++j) order[j] = static_cast<Eigen::Index>(j);
    random.shuffle(std::span<Eigen::Index>(order));
    auto left = static_cast<std::size_t>(std::ceil(features * static_cast<double>(rows.cols())));
    split best;
    for (std::size_t j = 0; j < order.size() && left > 0; ++j)
      left -= try_feature(order[j], rows, targets, sample, sum, random, best) ? 1 : 0;
    if (best.feature < 0) return id;
    const auto middle = std::partition(sample.begin(), sample.end(), [&](Eigen::Index i) {
      return rows(i, best.feature) <= best.threshold;
    });
    const auto first = static_cast<std::size_t>(middle - sample.begin());
    if (first == 0 || first == sample.size()) return id;  // the drawn threshold was rounded to an end
    const std::uint32_t below = grow(tree, rows, targets, sample.first(first), random);
    const std::uint32_t above = grow(tree, rows, targets, sample.subspan(first), random);
    tree[id].feature = best.feature;
    tree[id].threshold = best.threshold;
    tree[id].below = below;
    tree[id].above = above;
    return id;
  }

  std::vector<std::vector<node>> grown_;
};

}  // namespace kevo
