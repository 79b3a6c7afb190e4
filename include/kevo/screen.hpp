#pragma once
// Screening of proposals: a model that learns during the run (a ranker) orders proposals before they are
// evaluated. Shipped rankers: learn/ridge.hpp, learn/gaussian_process.hpp (both need Eigen).

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

/// A model that learns from pairs of features and target (`learn`), and predicts the target for features
/// (`predict`); a greater target is better.
/// All feature vectors have the same length. Its predictions must depend on nothing but the sequence of its
/// calls, because a replay repeats these calls. `predict` may fit the model first.
template <class T>
concept ranker = std::copy_constructible<T> &&
    requires(T& model, std::span<const double> features, double target) {
  model.learn(features, target);
  { model.predict(features) } -> std::same_as<double>;
};

/// A type-erased ranker with value semantics. Its functions do what the concept `ranker` says.
class any_ranker {
 public:
  any_ranker() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_ranker> && ranker<std::remove_cvref_t<T>>)
      any_ranker(T&& model)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(new holder<std::remove_cvref_t<T>>(std::forward<T>(model))) {}

  void learn(std::span<const double> features, double target) { object_->learn(features, target); }
  double predict(std::span<const double> features) { return object_->predict(features); }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual interface* clone() const = 0;
    virtual void learn(std::span<const double> features, double target) = 0;
    virtual double predict(std::span<const double> features) = 0;
  };
  template <class T>
  struct holder final : interface {
    explicit holder(T value) : model(std::move(value)) {}
    interface* clone() const override {
      return new holder(model);
    }
    void learn(std::span<const double> features, double target) override { model.learn(features, target); }
    double predict(std::span<const double> features) override { return model.predict(features); }
    T model;
  };
  detail::clone_ptr<interface> object_;
};

/// Computes the features of a proposal, which are known before it is evaluated: its source as hashed n-grams,
/// the score and the measures of its first parent, and what `more` finds. Takes some microseconds per
/// kilobyte of source.
struct screening_features {
  /// Number of features for the parent's measures; a hash of its name assigns each measure to one of them.
  std::size_t measures = 16;
  ngram_embedding source{.dimensions = 96, .longest = 3};  ///< maps the source to its first features
  /// Further features of a program, always the same number of them, for instance tunable_features; empty:
  /// none.
  std::function<std::vector<double>(const program&)> more = {};

  /// The features of a proposal. `parent_score`: nothing if the parent is not valid.
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
    if (more) {
      const auto found = more(made);
      features.insert(features.end(), found.begin(), found.end());
    }
    return features;
  }
  /// The target for a valid candidate: log2(score), but at least `worthless`, if the score is positive;
  /// otherwise `worthless` - log2(1 - score).
  static double target(double score) {
    return score > 0 ? std::max(std::log2(score), worthless) : worthless - std::log2(1 - score);
  }
  /// The target for a candidate that is not valid, unless a valid candidate has had a smaller target; then it
  /// is the smallest of those.
  static constexpr double worthless = -4;
};

/// How proposals are screened (TVM's evolutionary search also picks by a cost model, with an epsilon of 5 %;
/// the defaults here are kevo's choices). While fewer than `pool` proposals wait and an operator can vary,
/// further proposals are made before one is evaluated. Then the proposal that the ranker puts first is
/// evaluated, or, with probability `epsilon`, a random one, so that a wrong model cannot mislead the whole
/// search. If the pool is full, the `drop` proposals that the ranker puts last are never evaluated. One of
/// every 1 + `drop` proposals is then evaluated. Until `warmup` results have been learned, the oldest
/// proposal is evaluated and none is dropped.
struct screening {
  any_ranker ranker;            ///< predicts the results of proposals
  std::size_t pool = 8;         ///< number of proposals from which to choose
  std::size_t drop = 1;         ///< proposals that are dropped for each one that is evaluated
  double epsilon = 0.1;         ///< probability of choosing at random
  std::size_t warmup = 20;      ///< results to learn before the ranker is used
  screening_features features;  ///< how features are computed
};

/// The statistics of a screening so far. All members are counts.
struct screening_report {
  std::uint64_t learned = 0;        ///< results from which the ranker has learned
  std::uint64_t ranked = 0;         ///< results of proposals that the ranker had put first
  std::uint64_t ranked_kept = 0;    ///< those of `ranked` that the archive kept
  std::uint64_t explored = 0;       ///< results of proposals that were chosen at random
  std::uint64_t explored_kept = 0;  ///< those of `explored` that the archive kept
  std::uint64_t dropped = 0;        ///< proposals that were dropped and are never evaluated
  std::uint64_t pairs = 0;          ///< pairs of successive results that differ, and whose predictions differ
  std::uint64_t pairs_right = 0;    ///< those of `pairs` for which the predictions have the right order

  /// The share of `pairs` for which the ranker had predicted the right order before the evaluations. Random
  /// predictions give 0.5. NaN if there are no pairs.
  double hit_rate() const { return static_cast<double>(pairs_right) / static_cast<double>(pairs); }
};

}  // namespace kevo
