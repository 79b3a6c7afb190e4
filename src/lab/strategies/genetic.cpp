// The genetic algorithm of auto-tuners: B. van Werkhoven, "Kernel Tuner: A search-optimizing GPU code
// auto-tuner", Future Generation Computer Systems 90, 2019, with the settings that Kernel Tuner documents: a
// population of 20, parents by rank, uniform crossover, and a mutation of one gene in ten.
#include <algorithm>
#include <set>
#include <utility>

#include "src/lab/strategies/trial.hpp"

namespace kevo::strategies {
namespace {

constexpr std::size_t population_size = 20;
constexpr double mutation = 0.1;

std::vector<judged> random_population(trial& on, rng& random) {
  std::set<recorded_setting> chosen;
  for (std::size_t tries = 0; chosen.size() < population_size && tries < 100 * population_size; ++tries)
    chosen.insert(on.any(random));
  std::vector<judged> made;
  for (const auto& one : chosen) made.push_back({one});
  for (std::size_t i = made.size(); i > 1; --i) std::swap(made[i - 1], made[random.below(i)]);
  return made;
}

// The best of n is drawn n times as often as the worst.
const recorded_setting& by_rank(const std::vector<judged>& sorted, rng& random) {
  const std::size_t n = sorted.size();
  std::size_t at = random.below(n * (n + 1) / 2);
  std::size_t rank = 0;
  while (at >= n - rank) at -= n - rank++;
  return sorted[rank].setting;
}

recorded_setting child_of(const trial& on, const recorded_setting& a, const recorded_setting& b,
                          rng& random) {
  for (int tries = 0; tries < 32; ++tries) {
    recorded_setting child = a;
    for (std::size_t p = 0; p < child.size(); ++p) {
      if (random.chance(0.5)) child[p] = b[p];
      if (random.chance(mutation))
        child[p] = static_cast<std::uint32_t>(random.below(on.space().parameters()[p].values.size()));
    }
    if (on.space().find(child)) return child;
  }
  return on.neighbour(a, random);
}

}  // namespace

void genetic(trial& on, rng& random) {
  std::vector<judged> population = random_population(on, random);
  while (!on.done()) {
    for (judged& one : population) one.cost = on.cost(one.setting);
    std::stable_sort(population.begin(), population.end(),
                     [](const judged& a, const judged& b) { return a.cost < b.cost; });
    std::set<recorded_setting> children;
    for (std::size_t tries = 0; children.size() < population.size() && tries < 100 * population_size; ++tries)
      children.insert(child_of(on, by_rank(population, random), by_rank(population, random), random));
    // A population that has become one setting and its copies begins again.
    if (children.size() < population.size() / 2) {
      population = random_population(on, random);
      continue;
    }
    population.clear();
    for (const auto& one : children) population.push_back({one});
  }
}

}  // namespace kevo::strategies
