#pragma once
// Advantages of groups of rewards, and filters of samples, for training with policy gradients. A group
// consists of several samples for one prompt (of the same turn). Results are in the order of the arguments.
// All functions take O(n), except `preference_pairs`.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>

namespace kevo {

/// Discounted sums of the rewards that follow: G_t = sum over t' >= t of discount^(t' - t) r_t'. Dr. Kernel
/// (arXiv 2602.05885) uses a discount of 1 over the turns of a conversation.
inline std::vector<double> returns_of(std::span<const double> rewards, double discount = 1) {
  std::vector<double> sums(rewards.size());
  double sum = 0;
  for (std::size_t i = rewards.size(); i-- > 0;) sums[i] = sum = rewards[i] + discount * sum;
  return sums;
}

namespace detail {
inline double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
}  // namespace detail

/// The advantages of GRPO (Shao et al., arXiv 2402.03300): (r_i - mean) / standard deviation, both over the
/// group, with the divisor n. If all rewards are equal, all advantages are 0.
inline std::vector<double> grpo_advantages(std::span<const double> rewards) {
  std::vector<double> advantages(rewards.size(), 0.0);
  if (rewards.empty()) return advantages;
  const double mean = detail::mean_of(rewards);
  double squares = 0;
  for (const double r : rewards) squares += (r - mean) * (r - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(rewards.size()));
  if (!(deviation > 0)) return advantages;
  for (std::size_t i = 0; i < rewards.size(); ++i) advantages[i] = (rewards[i] - mean) / deviation;
  return advantages;
}

/// The advantages of TRLOO (Dr. Kernel, arXiv 2602.05885): r_i minus the mean of the other rewards, which is
/// n / (n - 1) (r_i - mean). The resulting gradient is unbiased; with the mean of the whole group it would be
/// smaller by the factor 1 - 1 / n. In a group of one sample, the advantage is the reward.
inline std::vector<double> trloo_advantages(std::span<const double> rewards) {
  std::vector<double> advantages(rewards.begin(), rewards.end());
  if (rewards.size() < 2) return advantages;
  const double mean = detail::mean_of(rewards);
  const auto n = static_cast<double>(rewards.size());
  for (double& a : advantages) a = n / (n - 1) * (a - mean);
  return advantages;
}

/// CUDA-L1's smoothed rewards (arXiv 2507.14111): the advantages of GRPO, limited to [-limit, limit].
inline std::vector<double> smoothed_rewards(std::span<const double> rewards, double limit = 1.5) {
  std::vector<double> smooth = grpo_advantages(rewards);
  for (double& r : smooth) r = std::clamp(r, -limit, limit);
  return smooth;
}

/// The probability with which Dr. Kernel's PRS keeps a correct sample whose own kernels take `share` of the
/// device time: clip((share - 0.3) / 0.1, 0, 1). Incorrect samples are always kept.
inline double prs_keep_probability(bool correct, double share) {
  return correct ? std::clamp((share - 0.3) / 0.1, 0.0, 1.0) : 1.0;
}

/// The limits of Dr. Kernel's MRS, which drops samples whose probability differs too much between the policy
/// that is trained and the one that sampled.
struct mrs_limits {
  double low = 0.999;   ///< smallest mean ratio of a sample that is kept
  double high = 1.001;  ///< largest mean ratio of a sample that is kept
  /// The sample is dropped if the probability ratio of one of its tokens is smaller.
  double least_ratio = 1e-4;
};

/// Whether MRS keeps a sample. It does if exp(mean difference of the log-probabilities of its tokens) is
/// within the limits, and no token has a ratio below `least_ratio`. `trained` and `sampled` have the same
/// length; a sample without tokens is dropped.
inline bool mrs_keeps(std::span<const double> trained, std::span<const double> sampled,
                      mrs_limits limits = {}) {
  if (trained.empty() || trained.size() != sampled.size()) return false;
  double sum = 0;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const double difference = trained[i] - sampled[i];
    if (!(std::exp(difference) >= limits.least_ratio)) return false;
    sum += difference;
  }
  const double weight = std::exp(sum / static_cast<double>(trained.size()));
  return weight >= limits.low && weight <= limits.high;
}

/// A program of a group of siblings, for `preference_pairs`.
struct sibling {
  bool correct = false;  ///< whether all its results were right
  interval speedup;      ///< confidence interval of the speedup; only of a correct program
};

/// Pairs (preferred, other) of siblings for direct preference optimization (Rafailov et al., arXiv
/// 2305.18290): a correct program is preferred to an incorrect one. Of two correct programs, one is preferred
/// if its interval lies completely above that of the other, so that noise does not create pairs. O(n^2).
inline std::vector<std::pair<std::size_t, std::size_t>> preference_pairs(std::span<const sibling> group) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t a = 0; a < group.size(); ++a) {
    for (std::size_t b = 0; b < group.size(); ++b) {
      if (a == b || !group[a].correct) continue;
      if (!group[b].correct || group[a].speedup.low > group[b].speedup.high) pairs.emplace_back(a, b);
    }
  }
  return pairs;
}

}  // namespace kevo
