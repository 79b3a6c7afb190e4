// The tree-structured Parzen estimator: J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl, "Algorithms for
// hyper-parameter optimization", NIPS 2011, with the settings that Optuna documents for a sampler of
// independent parameters: 10 random settings first, the best tenth (at most 25) against the rest, 24 draws a
// proposal. Parameters whose values are numbers have a discretized normal distribution around each observed
// place, others count their values; both have a prior of one observation. A draw outside of the space is
// drawn again, which favours it: Optuna would spend an evaluation.
#include <algorithm>
#include <cmath>

#include "src/lab/strategies/trial.hpp"

namespace kevo::strategies {
namespace {

constexpr std::size_t first_draws = 10;
constexpr std::size_t draws = 24;
constexpr std::size_t most_good = 25;

/// Probabilities of the values of each parameter.
using densities = std::vector<std::vector<double>>;

bool is_ordered(const recorded_parameter& one) {
  return std::none_of(one.numbers.begin(), one.numbers.end(), [](double x) { return std::isnan(x); });
}

// The width of the distribution around an observed place: the distance to the farther one of its neighbours,
// but not less than a hundredth part of the range or the range over the number of observations.
std::vector<double> widths(std::vector<double> places, double range) {
  std::vector<double> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  const double least = range / std::min(100.0, static_cast<double>(places.size()) + 1);
  for (double& place : places) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), place);
    const double left = at == sorted.begin() ? place + 0.5 : place - *(at - 1);
    const double right = at + 1 == sorted.end() ? range - 0.5 - place : *(at + 1) - place;
    place = std::clamp(std::max(left, right), least, range);
  }
  return places;
}

std::vector<double> density_of(const recorded_parameter& parameter, std::size_t p,
                               const std::vector<judged>& seen, std::size_t begin, std::size_t end) {
  const std::size_t values = parameter.values.size();
  std::vector<double> density(values, 1.0 / static_cast<double>(values));  // the prior
  if (!is_ordered(parameter)) {
    for (std::size_t i = begin; i < end; ++i) density[seen[i].setting[p]] += 1;
  } else {
    std::vector<double> places;
    for (std::size_t i = begin; i < end; ++i) places.push_back(seen[i].setting[p]);
    const auto wide = widths(places, static_cast<double>(values));
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::vector<double> kernel(values);
      double sum = 0;
      for (std::size_t v = 0; v < values; ++v) {
        const double distance = (static_cast<double>(v) - places[i]) / wide[i];
        sum += kernel[v] = std::exp(-0.5 * distance * distance);
      }
      for (std::size_t v = 0; v < values; ++v) density[v] += kernel[v] / sum;
    }
  }
  double sum = 0;
  for (const double d : density) sum += d;
  for (double& d : density) d /= sum;
  return density;
}

recorded_setting proposed(const trial& on, const std::vector<judged>& sorted, rng& random) {
  const auto& parameters = on.space().parameters();
  const std::size_t good =
      std::min(most_good, static_cast<std::size_t>(std::ceil(0.1 * static_cast<double>(sorted.size()))));
  densities high, low;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    high.push_back(density_of(parameters[p], p, sorted, 0, good));
    low.push_back(density_of(parameters[p], p, sorted, good, sorted.size()));
  }
  recorded_setting best;
  double most = -std::numeric_limits<double>::infinity();
  std::size_t found = 0;
  for (int tries = 0; found < draws && tries < 2000; ++tries) {
    recorded_setting one(parameters.size());
    double score = 0;
    for (std::size_t p = 0; p < one.size(); ++p) {
      one[p] = static_cast<std::uint32_t>(random.weighted(high[p]));
      score += std::log(high[p][one[p]]) - std::log(low[p][one[p]]);
    }
    const auto place = on.space().find(one);
    if (!place || on.is_known(*place)) continue;
    ++found;
    if (score <= most) continue;
    most = score;
    best = one;
  }
  return found > 0 ? best : on.any(random);
}

}  // namespace

void tpe(trial& on, rng& random) {
  std::vector<judged> sorted;
  while (!on.done()) {
    judged next = {sorted.size() < first_draws ? on.any(random) : proposed(on, sorted, random)};
    if (const auto place = on.space().find(next.setting); on.is_known(*place)) continue;
    next.cost = on.cost(next.setting);
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), next,
                                   [](const judged& a, const judged& b) { return a.cost < b.cost; }),
                  next);
  }
}

}  // namespace kevo::strategies
