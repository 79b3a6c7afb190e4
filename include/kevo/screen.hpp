#pragma once
// Pre-screening: a learned ranker orders proposals before they are evaluated. Shipped rankers:
// learn/ridge.hpp, learn/gaussian_process.hpp (both need Eigen).

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <kevo/detail/clone_ptr.hpp>
#include <kevo/detail/fnv.hpp>
#include <kevo/embedding.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// A model that learns (features, target) pairs and predicts targets; greater is better. All features have
/// the same length. Must be a function of what it was told, for a replay tells it again. `predict` may fit
/// first.
template <class T>
concept ranker = std::copy_constructible<T> &&
    requires(T& model, std::span<const double> features, double target) {
  model.learn(features, target);
  { model.predict(features) } -> std::same_as<double>;
};

/// Any ranker, as a value.
class any_ranker {
 public:
  any_ranker() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_ranker> && ranker<std::remove_cvref_t<T>>)
      any_ranker(T&& model)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(std::make_unique<holder<std::remove_cvref_t<T>>>(std::forward<T>(model))) {}

  void learn(std::span<const double> features, double target) { object_->learn(features, target); }
  double predict(std::span<const double> features) { return object_->predict(features); }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual std::unique_ptr<interface> clone() const = 0;
    virtual void learn(std::span<const double> features, double target) = 0;
    virtual double predict(std::span<const double> features) = 0;
  };
  template <class T>
  struct holder final : interface {
    explicit holder(T value) : model(std::move(value)) {}
    std::unique_ptr<interface> clone() const override { return std::make_unique<holder>(model); }
    void learn(std::span<const double> features, double target) override { model.learn(features, target); }
    double predict(std::span<const double> features) override { return model.predict(features); }
    T model;
  };
  detail::clone_ptr<interface> object_;
};

/// What is known of a proposal before it is evaluated: its source as hashed n-grams, and its first parent's
/// score and measures, which are all that has been measured of its kin. Some microseconds a kilobyte of
/// source.
struct screening_features {
  std::size_t measures = 16;  ///< places for the parent's measures, found by a hash of their names
  ngram_embedding source{.dimensions = 96, .longest = 3};

  /// `parent_score`: nothing if the parent is not valid.
  std::vector<double> operator()(const program& made, std::optional<double> parent_score,
                                 const std::map<std::string, double>& parent_measures) const {
    std::vector<double> features = source(made);
    features.push_back(parent_score ? target(*parent_score) : worthless);
    const std::size_t first = features.size();
    features.resize(first + measures);
    for (const auto& [name, value] : parent_measures) {
      if (!std::isfinite(value) || measures == 0) continue;
      features[first + detail::fnv1a(name) % measures] += std::copysign(std::log1p(std::abs(value)), value);
    }
    return features;
  }
  /// What rankers predict of a valid candidate: the binary logarithm of the score, at least -4; below a score
  /// of 0 it goes on falling with the logarithm of 1 - score.
  static double target(double score) {
    return score > 0 ? std::max(std::log2(score), worthless) : worthless - std::log2(1 - score);
  }
  /// What a candidate that is not valid is worth, while no valid one is worth less.
  static constexpr double worthless = -4;
};

/// How proposals are screened (TVM's evolutionary search picks by its cost model with an epsilon of 5 %; pool
/// and drop are kevo's choices). While fewer than `pool` proposals wait and an operator can vary, proposals
/// are made rather than evaluated. Then the one that the ranker puts first is evaluated, with probability
/// `epsilon` any of them, so that a wrong model cannot blind the search; and of a full pool the `drop` last
/// ones are never evaluated. So one proposal in 1 + drop is. Until `warmup` results are learnt, order is by
/// age and nothing is dropped.
struct screening {
  any_ranker ranker;
  std::size_t pool = 8;
  std::size_t drop = 1;
  double epsilon = 0.1;
  std::size_t warmup = 20;
  screening_features features;
};

/// What a screening has been worth so far.
struct screening_report {
  std::uint64_t learned = 0;        ///< results that the ranker was told
  std::uint64_t ranked = 0;         ///< evaluated because the ranker put them first
  std::uint64_t ranked_kept = 0;    ///< of those, kept by the archive
  std::uint64_t explored = 0;       ///< evaluated by the draw of epsilon
  std::uint64_t explored_kept = 0;  ///< of those, kept by the archive
  std::uint64_t dropped = 0;        ///< never evaluated
  std::uint64_t pairs = 0;          ///< results that differed from the one before them
  std::uint64_t pairs_right = 0;    ///< of those, the ranker had predicted which of the two is better

  /// The share of pairs that the ranker ordered as their evaluations did, by predictions made before; chance
  /// is 0.5. Nan without a pair.
  double hit_rate() const { return static_cast<double>(pairs_right) / static_cast<double>(pairs); }
};

}  // namespace kevo
