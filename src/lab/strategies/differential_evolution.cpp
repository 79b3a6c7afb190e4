// Differential evolution (R. Storn, K. Price, "Differential evolution", Journal of Global Optimization 11,
// 1997), the variant best/1/bin on the positions of values, rounded, with a scale between 0.5 and 1 that is
// drawn for each generation and a crossover of 0.7, as tuners take it from SciPy.
#include <algorithm>
#include <cmath>
#include <utility>

#include "src/lab/strategies/trial.hpp"

namespace kevo::strategies {
namespace {

constexpr std::size_t members = 20;
constexpr double crossover = 0.7;

recorded_setting mixed(const trial& on, const std::vector<judged>& all, std::size_t at,
                       const recorded_setting& best, double scale, rng& random) {
  const auto& parameters = on.space().parameters();
  for (int tries = 0; tries < 32; ++tries) {
    const auto& a = all[random.below(all.size())].setting;
    const auto& b = all[random.below(all.size())].setting;
    recorded_setting made = all[at].setting;
    const std::size_t always = random.below(made.size());
    for (std::size_t p = 0; p < made.size(); ++p) {
      if (p != always && !random.chance(crossover)) continue;
      const double place =
          static_cast<double>(best[p]) + scale * (static_cast<double>(a[p]) - static_cast<double>(b[p]));
      const double last = static_cast<double>(parameters[p].values.size() - 1);
      made[p] = static_cast<std::uint32_t>(std::lround(std::clamp(place, 0.0, last)));
    }
    if (made != all[at].setting && on.space().find(made)) return made;
  }
  return on.neighbour(all[at].setting, random);
}

}  // namespace

void differential_evolution(trial& on, rng& random) {
  while (!on.done()) {
    std::vector<judged> all(members);
    for (judged& one : all) {
      one.setting = on.any(random);
      one.cost = on.cost(one.setting);
    }
    const auto cheaper = [](const judged& a, const judged& b) { return a.cost < b.cost; };
    // A population whose members are all alike has nothing to mix.
    for (int generation = 0; generation < 100 && !on.done(); ++generation) {
      const recorded_setting best = std::min_element(all.begin(), all.end(), cheaper)->setting;
      const double scale = random.uniform(0.5, 1.0);
      for (std::size_t i = 0; i < all.size(); ++i) {
        judged next = {mixed(on, all, i, best, scale, random)};
        next.cost = on.cost(next.setting);
        if (next.cost <= all[i].cost) all[i] = std::move(next);
      }
      const bool alike = std::all_of(all.begin(), all.end(),
                                     [&](const judged& one) { return one.setting == all.front().setting; });
      if (alike) break;
    }
  }
}

}  // namespace kevo::strategies
