#pragma once
// A proposal filter that drops near duplicates: POLCA's epsilon-net (arXiv 2603.14769).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kevo/embedding.hpp>
#include <kevo/filter.hpp>

namespace kevo {

/// POLCA's epsilon-net over proposals (arXiv 2603.14769). For a batch, it repeats two steps until no proposal
/// is left. First, it drops every proposal whose distance to a program in the memory is at most `epsilon`.
/// Then it passes the proposal that is farthest from the memory (of equally far ones, the oldest), and adds
/// it to the memory. With an unlimited memory, all evaluated programs, except seeds among themselves, are
/// therefore more than `epsilon` apart.
///
/// Distances are Euclidean distances between embedded sources, as in the archive `epsilon_net`. POLCA gets
/// its embeddings from a model. The default of kevo is `ngram_embedding`, computed locally: equal token
/// sequences have distance 0, and programs without a common run of tokens have a distance of about sqrt(2).
///
/// `epsilon` = 0 disables the filter, as in POLCA. `memory` is the number of latest programs that proposals
/// are compared with; 0 means all, as in POLCA. Each proposal is compared with the whole memory: O(memory)
/// per proposal. Most comparisons end early, after a small part of the two points. A comparison with a
/// similar program takes 0.4 us.
class proposal_net {
 public:
  /// A filter with an empty memory. For `epsilon` and `memory` see above.
  explicit proposal_net(double epsilon = 0.1, source_embedding embedding = embedding_of(ngram_embedding{}),
                        std::size_t memory = 10000)
      : epsilon_(epsilon), embedding_(std::move(embedding)), memory_(memory) {}

  void remember(const unevaluated& one) {
    if (epsilon_ > 0) keep(one.candidate, embedding_.embed(*one.source));
  }

  filter_verdict filter(std::span<const unevaluated> batch) {
    filter_verdict verdict;
    if (!(epsilon_ > 0)) {
      for (const unevaluated& one : batch) verdict.passed.push_back(one.candidate);
      return verdict;
    }
    std::vector<open_proposal> open;
    for (const unevaluated& one : batch) {
      open.push_back({one.candidate, embedding_.embed(*one.source)});
      for (std::size_t i = 0; i < ids_.size(); ++i) open.back().compare(point(i), ids_[i]);
    }
    while (true) {
      std::erase_if(open, [&](const open_proposal& one) {
        if (one.squared > epsilon_ * epsilon_) return false;
        verdict.dropped.push_back({one.candidate, reason_of(one)});
        return true;
      });
      if (open.empty()) return verdict;
      const auto farthest = std::max_element(
          open.begin(), open.end(), [](const auto& a, const auto& b) { return a.squared < b.squared; });
      const open_proposal chosen = std::move(*farthest);
      open.erase(farthest);
      verdict.passed.push_back(chosen.candidate);
      for (open_proposal& one : open) one.compare(chosen.point, chosen.candidate);
      keep(chosen.candidate, chosen.point);
    }
  }

  /// The number of programs in the memory.
  std::size_t size() const { return ids_.size(); }

 private:
  /// The squared distance of two points if it is less than `enough`; otherwise any number not less than
  /// `enough`.
  static double squared_distance(std::span<const double> a, std::span<const double> b, double enough) {
    constexpr std::size_t stride = 16;
    double sum = 0;
    for (std::size_t k = 0; k < a.size() && sum < enough; k += stride) {
      for (std::size_t i = k; i < std::min(k + stride, a.size()); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sum;
  }

  struct open_proposal {
    candidate_id candidate = no_candidate;
    std::vector<double> point;
    double squared = std::numeric_limits<double>::infinity();  // squared distance to the nearest program
    candidate_id nearest = no_candidate;

    void compare(std::span<const double> other, candidate_id id) {
      const double distance = squared_distance(point, other, squared);
      if (distance < squared) squared = distance, nearest = id;
    }
  };

  std::string reason_of(const open_proposal& one) const {
    char text[96];
    std::snprintf(text, sizeof text, "its distance to candidate %lu is %.4f, epsilon is %.4g",
                  static_cast<unsigned long>(one.nearest), std::sqrt(one.squared), epsilon_);
    return text;
  }

  std::span<const double> point(std::size_t i) const {
    return {points_.data() + i * embedding_.dimensions, embedding_.dimensions};
  }
  void keep(candidate_id id, const std::vector<double>& at) {
    if (memory_ == 0 || ids_.size() < memory_) {
      ids_.push_back(id);
      points_.insert(points_.end(), at.begin(), at.end());
      return;
    }
    ids_[oldest_] = id;
    std::copy(at.begin(), at.end(),
              points_.begin() + static_cast<std::ptrdiff_t>(oldest_ * embedding_.dimensions));
    oldest_ = (oldest_ + 1) % memory_;
  }

  double epsilon_;
  source_embedding embedding_;
  std::size_t memory_;
  std::vector<candidate_id> ids_;
  std::vector<double> points_;
  std::size_t oldest_ = 0;  // index of the oldest program, once the memory is full
};

}  // namespace kevo
