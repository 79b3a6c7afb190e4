// Greedy iterated local search (H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search", Handbook
// of Metaheuristics, 2003), one of the best strategies of R. Schoonhoven, B. van Werkhoven, K. J. Batenburg,
// "Benchmarking optimization algorithms for auto-tuning GPU kernels", IEEE Transactions on Evolutionary
// Computation, 2022: climb to the first better neighbour until there is none, leave the optimum by random
// steps, and begin anew after 50 climbs without a gain.
#include <algorithm>

#include "src/lab/strategies/trial.hpp"

namespace kevo::strategies {
namespace {

constexpr double walked = 0.3;  // share of the parameters that a walk changes
constexpr int patience = 50;

judged climbed(trial& on, judged from, rng& random) {
  for (bool better = true; better && !on.done();) {
    better = false;
    for (const recorded_setting& next : on.neighbours(from.setting, random)) {
      const double cost = on.cost(next);
      if (!(cost < from.cost)) continue;
      from = {next, cost};
      better = true;
      break;
    }
  }
  return from;
}

}  // namespace

void local_search(trial& on, rng& random) {
  while (!on.done()) {
    judged best = {on.any(random)};
    best.cost = on.cost(best.setting);
    best = climbed(on, best, random);
    for (int without = 0; without < patience && !on.done(); ++without) {
      judged next = best;
      const auto steps = std::max<std::size_t>(
          1, static_cast<std::size_t>(walked * static_cast<double>(next.setting.size())));
      for (std::size_t i = 0; i < steps; ++i) next.setting = on.neighbour(next.setting, random);
      next.cost = on.cost(next.setting);
      next = climbed(on, next, random);
      if (next.cost < best.cost) {
        best = next;
        without = 0;
      }
    }
  }
}

}  // namespace kevo::strategies
