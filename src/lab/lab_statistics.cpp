#include "src/lab/lab_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <kevo/random.hpp>

namespace kevo {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double error_of_mean(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(sum / (n - 1) / n);
}

std::vector<double> shares_at(const std::vector<cell_result>& cells, lab_axis axis, double spent) {
  std::vector<double> shares;
  shares.reserve(cells.size());
  for (const auto& cell : cells)
    shares.push_back(share_of_optimum(value_at(cell, axis, spent), cell.optimum));
  return shares;
}

lab_row row_of(const lab_plan& plan, const std::vector<cell_result>& cells, double budget) {
  const std::vector<double> shares = shares_at(cells, plan.unit, budget);
  lab_row row{.policy = cells.front().policy, .budget = budget, .seeds = cells.size()};
  row.mean = mean_with_interval(shares, plan.confidence);
  row.median = median_with_interval(shares, plan.confidence);
  row.lower_quartile = quantile(shares, 0.25);
  row.upper_quartile = quantile(shares, 0.75);
  double log_sum = 0;
  std::vector<double> log_ratios;
  std::size_t optimal = 0;
  for (const auto& cell : cells) {
    const double value = value_at(cell, plan.unit, budget);
    log_sum += std::log(value);
    log_ratios.push_back(std::log(cell.optimum / value));
    optimal += value >= 0.99 * cell.optimum ? 1U : 0U;
  }
  row.speedup = std::exp(log_sum / static_cast<double>(cells.size()));
  row.ratio = mean_with_interval(log_ratios, plan.confidence);
  for (double* one : {&row.ratio.value, &row.ratio.range.low, &row.ratio.range.high}) *one = std::exp(*one);
  row.optimal = static_cast<double>(optimal) / static_cast<double>(cells.size());
  return row;
}

lab_difference difference_of(const lab_plan& plan, const lab_comparison& pair,
                             const std::vector<cell_result>& one, const std::vector<cell_result>& other,
                             double budget) {
  const std::vector<double> a = shares_at(one, plan.unit, budget);
  const std::vector<double> b = shares_at(other, plan.unit, budget);
  lab_difference d{.pair = pair, .budget = budget, .seeds = a.size()};
  std::vector<double> gaps;
  for (std::size_t i = 0; i < a.size(); ++i) {
    gaps.push_back(a[i] - b[i]);
    (std::abs(gaps.back()) < 1e-12 ? d.ties : gaps.back() > 0 ? d.wins : d.losses) += 1;
  }
  d.mean = mean_with_interval(gaps, plan.confidence);
  d.p = p_of_zero_mean(gaps);
  return d;
}

/// Axes that are not the budget's end where the first search ended: beyond it a mean would mix the living
/// with the finished.
double end_of(const lab_plan& plan, const std::vector<std::vector<cell_result>>& cells, lab_axis axis) {
  if (axis == plan.unit) return plan.budgets.back();
  double longest = 0;
  for (const auto& of_policy : cells) {
    double shortest = of_policy.front().spent[static_cast<std::size_t>(axis)];
    for (const auto& cell : of_policy)
      shortest = std::min(shortest, cell.spent[static_cast<std::size_t>(axis)]);
    longest = std::max(longest, shortest);
  }
  return longest;
}

lab_curve curve_of(const lab_plan& plan, const std::vector<cell_result>& cells, lab_axis axis, double end) {
  constexpr std::size_t points = 100;
  lab_curve curve{.policy = cells.front().policy, .axis = axis};
  double alive = end;
  if (axis != plan.unit) {
    for (const auto& cell : cells) alive = std::min(alive, cell.spent[static_cast<std::size_t>(axis)]);
  }
  for (std::size_t i = 1; i <= points; ++i) {
    const double at = end * static_cast<double>(i) / points;
    if (at > alive * (1 + 1e-12)) break;
    const std::vector<double> shares = shares_at(cells, axis, at);
    curve.points.push_back({at, mean_with_interval(shares, plan.confidence), median(shares)});
  }
  return curve;
}

}  // namespace

estimate mean_with_interval(std::span<const double> values, double confidence) {
  const double mean = mean_of(values);
  if (values.size() < 2) return {mean, {mean, mean}};
  const double half =
      student_t(1 - confidence, static_cast<double>(values.size() - 1)) * error_of_mean(values, mean);
  return {mean, {mean - half, mean + half}};
}

estimate median_with_interval(std::span<const double> values, double confidence) {
  const std::vector<double> all(values.begin(), values.end());
  constexpr int resamples = 2000;
  rng random(20230);
  std::vector<double> medians;
  medians.reserve(resamples);
  std::vector<double> drawn(all.size());
  for (int i = 0; i < resamples; ++i) {
    for (auto& value : drawn) value = all[random.below(all.size())];
    medians.push_back(median(drawn));
  }
  const double tail = (1 - confidence) / 2;
  return {median(all), {quantile(medians, tail), quantile(medians, 1 - tail)}};
}

double p_of_zero_mean(std::span<const double> values) {
  if (values.size() < 2) return 1;
  const double mean = mean_of(values);
  const double error = error_of_mean(values, mean);
  if (!(error > 0)) return mean == 0 ? 1 : 0;
  const double t = mean / error;
  const auto freedom = static_cast<double>(values.size() - 1);
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size(), 1);
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

lab_results summarize(const lab_plan& plan, const std::vector<std::vector<cell_result>>& cells) {
  lab_results results;
  for (const auto& of_policy : cells) {
    for (const double budget : plan.budgets) results.rows.push_back(row_of(plan, of_policy, budget));
  }
  const auto cells_of = [&](const std::string& name) -> const std::vector<cell_result>& {
    for (std::size_t i = 0; i < plan.policies.size(); ++i) {
      if (plan.policies[i].name == name) return cells[i];
    }
    throw error(error_code::internal, "no policy is named '" + name + "'");
  };
  for (const auto& pair : plan.comparisons) {
    for (const double budget : plan.budgets) {
      results.differences.push_back(
          difference_of(plan, pair, cells_of(pair.policy), cells_of(pair.against), budget));
    }
  }
  std::vector<double> p;
  for (const auto& d : results.differences) p.push_back(d.p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < adjusted.size(); ++i) results.differences[i].p_holm = adjusted[i];
  for (const lab_axis axis : {lab_axis::evaluations, lab_axis::proposals, lab_axis::cost}) {
    const double end = end_of(plan, cells, axis);
    for (const auto& of_policy : cells) results.curves.push_back(curve_of(plan, of_policy, axis, end));
  }
  return results;
}

}  // namespace kevo
