#pragma once
// What the cells of a lab say together. Pure functions.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kevo/evaluate/statistics.hpp>

#include "src/lab/cell.hpp"

namespace kevo {

/// The mean with its interval by Student's t; the interval is the value where there are fewer than two
/// values.
estimate mean_with_interval(std::span<const double> values, double confidence);

/// The median with its percentile bootstrap interval (Efron and Tibshirani 1993, chapter 13; 2000 resamples
/// of a fixed stream: equal values, equal intervals).
estimate median_with_interval(std::span<const double> values, double confidence);

/// The two-sided p-value of a mean of 0 (one-sample t test); 1 if there is nothing to tell from.
double p_of_zero_mean(std::span<const double> values);

/// Holm (1979): p-values made honest for having been looked at together, in the order given.
std::vector<double> holm(std::span<const double> p);

/// One policy at one budget, over all seeds. Shares are of the optimum's logarithm (cell.hpp).
struct lab_row {
  std::string policy;
  double budget = 0;
  std::size_t seeds = 0;
  estimate mean;              ///< of shares
  estimate median;            ///< of shares
  double lower_quartile = 0;  ///< of shares
  double upper_quartile = 0;
  double speedup = 0;  ///< geometric mean; 0 if a search believed in nothing
  double optimal = 0;  ///< part of the searches within 1 % of the optimum
};

/// Differences of shares, seed by seed.
struct lab_difference {
  lab_comparison pair;
  double budget = 0;
  std::size_t seeds = 0;
  estimate mean;
  std::size_t wins = 0, ties = 0, losses = 0;
  double p = 1;       ///< of no difference, by a paired t test
  double p_holm = 1;  ///< adjusted for all comparisons of the lab
};

/// One policy over the course of the searches.
struct lab_curve {
  std::string policy;
  lab_axis axis = lab_axis::evaluations;
  struct point {
    double at = 0;
    estimate mean;
    double median = 0;
  };
  std::vector<point> points;
};

struct lab_results {
  std::vector<lab_row> rows;
  std::vector<lab_difference> differences;
  std::vector<lab_curve> curves;
};

/// `cells[p][s]` is policy p on seed s.
lab_results summarize(const lab_plan& plan, const std::vector<std::vector<cell_result>>& cells);

}  // namespace kevo
