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

/// `cells[p][s]` is policy p on seed s.
lab_results summarize(const lab_plan& plan, const std::vector<std::vector<cell_result>>& cells);

}  // namespace kevo
