#include "operators/tune/setting_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <kevo/learn/matern_process.hpp>
#include <kevo/learn/regression_forest.hpp>

namespace kevo {
namespace {

/// The value of a literal as a number, with the suffixes of C++ (16u, 0.5f).
std::optional<double> number_of(const std::string& literal) {
  if (const auto whole = integer_literal(literal)) return static_cast<double>(*whole);
  std::string text = literal;
  while (!text.empty() && (text.back() == 'f' || text.back() == 'F')) text.pop_back();
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() ? std::optional(value) : std::nullopt;
}

/// The columns of each value of a tunable.
std::vector<std::vector<double>> columns_of(const tunable& one) {
  std::vector<double> numbers;
  for (const auto& literal : one.domain) {
    if (const auto number = number_of(literal)) numbers.push_back(*number);
  }
  std::vector<std::vector<double>> columns;
  if (numbers.size() < one.domain.size()) {
    // Two different values are as far from each other as the ends of a numeric domain.
    const double apart = std::sqrt(0.5);
    for (std::size_t v = 0; v < one.domain.size(); ++v) {
      columns.emplace_back(one.domain.size(), 0.0);
      columns.back()[v] = apart;
    }
    return columns;
  }
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  const bool logarithmic = *low > 0 && *high >= 4 * *low;
  const auto scaled = [&](double x) { return logarithmic ? std::log(x) : x; };
  const double first = scaled(*low);
  const double width = scaled(*high) - first;
  for (const double x : numbers) columns.push_back({width > 0 ? (scaled(x) - first) / width : 0.0});
  return columns;
}

/// How many times 2 divides each value of a tunable, from 0 to 1; empty if that says nothing.
std::vector<double> divisibility_of(const tunable& one) {
  constexpr int most = 6;
  if (one.domain.size() < 3) return {};
  std::vector<double> times;
  std::set<std::int64_t> odd_parts;
  for (const auto& literal : one.domain) {
    const auto value = integer_literal(literal);
    if (!value || *value <= 0) return {};
    const int twos = std::countr_zero(static_cast<std::uint64_t>(*value));
    odd_parts.insert(*value >> twos);
    times.push_back(std::min(twos, most));
  }
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  const double first = *low;
  const double width = *high - first;
  if (odd_parts.size() < 2 || !(width > 0)) return {};
  for (double& x : times) x = (x - first) / width;
  return times;
}

Eigen::MatrixXd rows_of(const setting_features& features, const std::vector<tunable_setting>& settings) {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(
      static_cast<Eigen::Index>(settings.size()), static_cast<Eigen::Index>(features.columns()));
  for (std::size_t i = 0; i < settings.size(); ++i)
    features.write(settings[i], {rows.data() + i * features.columns(), features.columns()});
  return rows;
}

/// What a model is fitted to.
struct training {
  std::vector<tunable_setting> settings;
  Eigen::VectorXd targets, errors, costs;
  double best = 0;
};

/// The latest result of each setting, in the order of the first ones.
std::vector<tried_setting> latest_of(std::span<const tried_setting> results) {
  std::vector<tried_setting> latest;
  std::map<tunable_setting, std::size_t> places;
  for (const auto& one : results) {
    const auto [at, fresh] = places.emplace(one.setting, latest.size());
    if (fresh) {
      latest.push_back(one);
    } else {
      latest[at->second] = one;
    }
  }
  return latest;
}

training training_of(std::span<const tried_setting> results, std::size_t memory) {
  std::vector<tried_setting> all = latest_of(results);
  std::vector<double> valid;
  for (const auto& one : all) {
    if (!one.failed) valid.push_back(one.value);
  }
  std::sort(valid.begin(), valid.end(), std::greater<>());
  const double worst = valid[std::min(valid.size() - 1, valid.size() * 7 / 10)];
  const auto target = [worst](const tried_setting& one) {
    return one.failed ? worst : std::max(one.value, worst);
  };
  if (all.size() > memory) {
    // The best half, and of the others any: a hash of the place decides, so that equal results give equal
    // choices.
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return target(all[a]) > target(all[b]); });
    const auto half = static_cast<std::ptrdiff_t>(memory / 2);
    std::sort(order.begin() + half, order.end(),
              [](std::size_t a, std::size_t b) { return rng(a)() < rng(b)(); });
    order.resize(memory);
    std::sort(order.begin(), order.end());
    std::vector<tried_setting> kept;
    kept.reserve(order.size());
    for (const std::size_t i : order) kept.push_back(std::move(all[i]));
    all = std::move(kept);
  }
  training made;
  const auto n = static_cast<Eigen::Index>(all.size());
  made.targets.resize(n);
  made.errors.resize(n);
  made.costs.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const tried_setting& one = all[static_cast<std::size_t>(i)];
    made.settings.push_back(one.setting);
    made.targets(i) = target(one);
    made.errors(i) = one.failed ? 0 : one.error;
    made.costs(i) = std::log(std::max(one.cost_s, 1e-6));
  }
  made.best = valid.front();
  return made;
}

/// The number of results to which lengths are fitted when there are `results`: they are fitted again whenever
/// there are an eighth more.
std::size_t fitted_at(std::size_t results) {
  std::size_t at = 3;
  while (at + std::max<std::size_t>(1, at / 8) <= results) at += std::max<std::size_t>(1, at / 8);
  return std::min(at, results);
}

double expected_improvement(double mean, double deviation, double best) {
  if (!(deviation > 1e-9)) return std::max(mean - best, 0.0);
  const double z = (mean - best) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * 3.14159265358979323846);
  return (mean - best) * 0.5 * std::erfc(-z / std::sqrt(2.0)) + deviation * density;
}

/// Lengths are learned from at most this many results: more cost much and change them little.
constexpr std::size_t lengths_memory = 150;

void append(training& all, const std::vector<tunable_setting>& settings, const Eigen::VectorXd& targets) {
  const Eigen::Index n = all.targets.size();
  const auto more = static_cast<Eigen::Index>(settings.size());
  all.settings.insert(all.settings.end(), settings.begin(), settings.end());
  all.targets.conservativeResize(n + more);
  all.targets.tail(more) = targets;
  all.errors.conservativeResize(n + more);
  all.errors.tail(more).setZero();
  all.costs.conservativeResize(n + more);
  all.costs.tail(more).setConstant(n > 0 ? all.costs.head(n).mean() : 0.0);
}

/// What other runs make expect of settings.
class prior_model {
 public:
  prior_model(const setting_features& features, const std::vector<tried_setting>& results,
              fitted_lengths& lengths)
      : features_(features) {
    const training data = training_of(results, lengths_memory);
    const Eigen::MatrixXd rows = rows_of(features, data.settings);
    if (lengths.prior.empty()) {
      process_.learn_lengths(rows, data.targets);
      lengths.prior = process_.logarithms();
    }
    process_.set_logarithms(lengths.prior);
    process_.fit(rows, data.targets, data.errors);
    variance_ = (data.targets.array() - data.targets.mean()).square().mean();
  }
  Eigen::VectorXd expects(const std::vector<tunable_setting>& settings) const {
    return process_.predict(rows_of(features_, settings)).mean;
  }
  /// How much of what it expects the targets follow.
  double factor(const Eigen::VectorXd& expected, const Eigen::VectorXd& targets) const {
    constexpr double results_of_trust = 5;
    const Eigen::ArrayXd x = expected.array() - expected.mean();
    const Eigen::ArrayXd y = targets.array() - targets.mean();
    const double trust = results_of_trust * variance_;
    return std::clamp(((x * y).sum() + trust) / (x.square().sum() + trust + 1e-12), 0.0, 1.0);
  }

 private:
  const setting_features& features_;
  matern_process process_;
  double variance_ = 0;
};

/// Takes from the targets what the prior explains; its factor.
double take_explained(const prior_model* prior, training& data) {
  if (prior == nullptr) return 0;
  const Eigen::VectorXd expected = prior->expects(data.settings);
  const double factor = prior->factor(expected, data.targets);
  data.targets -= factor * expected;
  return factor;
}

process_prediction by_process(const setting_features& features, const std::vector<tried_setting>& results,
                              training& data, const std::vector<tunable_setting>& pending,
                              const std::vector<tunable_setting>& pool, const prior_model* prior,
                              fitted_lengths& lengths, Eigen::VectorXd* costs) {
  matern_process model;
  const std::size_t at = fitted_at(results.size());
  const bool any_valid = std::any_of(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(at),
                                     [](const tried_setting& one) { return !one.failed; });
  if (any_valid && lengths.results != at) {
    training early = training_of({results.data(), at}, lengths_memory);
    take_explained(prior, early);
    model.learn_lengths(rows_of(features, early.settings), early.targets);
    lengths.results = at;
    lengths.logarithms = model.logarithms();
  }
  if (any_valid) model.set_logarithms(lengths.logarithms);
  Eigen::MatrixXd rows = rows_of(features, data.settings);
  model.fit(rows, data.targets, data.errors);
  if (!pending.empty()) {
    append(data, pending, model.predict(rows_of(features, pending)).mean);
    rows = rows_of(features, data.settings);
    model.fit(rows, data.targets, data.errors);
  }
  const Eigen::MatrixXd asked = rows_of(features, pool);
  process_prediction made = model.predict(asked);
  if (costs != nullptr) {
    model.fit(rows, data.costs);
    *costs = model.predict(asked).mean;
  }
  return made;
}

process_prediction by_forest(const setting_features& features, training& data,
                             const std::vector<tunable_setting>& pending,
                             const std::vector<tunable_setting>& pool, Eigen::VectorXd* costs) {
  regression_forest model;
  Eigen::MatrixXd rows = rows_of(features, data.settings);
  model.fit(rows, data.targets);
  if (!pending.empty()) {
    append(data, pending, model.predict(rows_of(features, pending)).mean);
    rows = rows_of(features, data.settings);
    model.fit(rows, data.targets);
  }
  const Eigen::MatrixXd asked = rows_of(features, pool);
  process_prediction made = model.predict(asked);
  if (costs != nullptr) {
    model.fit(rows, data.costs);
    *costs = model.predict(asked).mean;
  }
  return made;
}

}  // namespace

setting_features::setting_features(const setting_space& space, bool divisibility) {
  for (const auto& one : space.tunables()) {
    parts_.push_back(one.domain.size() > 1 ? columns_of(one)
                                           : std::vector<std::vector<double>>(one.domain.size()));
    if (divisibility) {
      const std::vector<double> times = divisibility_of(one);
      for (std::size_t v = 0; v < times.size(); ++v) parts_.back()[v].push_back(times[v]);
    }
    columns_ += parts_.back().front().size();
  }
}

void setting_features::write(const tunable_setting& setting, std::span<double> into) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    for (const double x : parts_[i][setting[i]]) into[at++] = x;
  }
}

std::vector<double> setting_features::row(const tunable_setting& setting) const {
  std::vector<double> made(columns_);
  write(setting, made);
  return made;
}

std::vector<std::size_t> best_expected(const setting_space& space, const std::vector<tried_setting>& results,
                                       const std::vector<tunable_setting>& pending,
                                       const std::vector<tunable_setting>& pool, std::size_t count,
                                       const setting_model_settings& how, fitted_lengths& lengths) {
  const setting_features features(space, how.divisibility);
  if (pool.empty() || features.columns() == 0) return {};
  training data = training_of(results, how.memory);
  const double best = data.best;
  std::optional<prior_model> prior;
  if (how.prior != nullptr) prior.emplace(features, *how.prior, lengths);
  const prior_model* const others = prior ? &*prior : nullptr;
  const double factor = take_explained(others, data);
  Eigen::VectorXd costs;
  Eigen::VectorXd* const wanted = how.cost_exponent > 0 ? &costs : nullptr;
  process_prediction expected =
      how.kind == setting_model_kind::forest
          ? by_forest(features, data, pending, pool, wanted)
          : by_process(features, results, data, pending, pool, others, lengths, wanted);
  if (others != nullptr) expected.mean += factor * others->expects(pool);
  std::vector<double> worth(pool.size());
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    worth[i] = expected_improvement(expected.mean(k), expected.deviation(k), best);
    if (wanted != nullptr) worth[i] /= std::exp(how.cost_exponent * costs(k));
  }
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](std::size_t a, std::size_t b) { return worth[a] != worth[b] ? worth[a] > worth[b] : a < b; });
  order.resize(count);
  return order;
}

std::vector<std::size_t> best_of_prior(const setting_space& space, const std::vector<tried_setting>& prior,
                                       const std::vector<tunable_setting>& pool, std::size_t count,
                                       bool divisibility, fitted_lengths& lengths) {
  const setting_features features(space, divisibility);
  if (pool.empty() || features.columns() == 0) return {};
  const Eigen::VectorXd expected = prior_model(features, prior, lengths).expects(pool);
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return expected(static_cast<Eigen::Index>(a)) > expected(static_cast<Eigen::Index>(b));
  });
  order.resize(std::min(count, order.size()));
  return order;
}

}  // namespace kevo
