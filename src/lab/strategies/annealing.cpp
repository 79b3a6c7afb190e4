// Simulated annealing (S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing",
// Science 220, 1983) with the settings that Kernel Tuner documents: temperatures from 1 to 0.001, each 0.995
// of the one before, and differences relative to the present cost. It begins again at another setting when it
// is cold or finds no way on.
#include <cmath>

#include "src/lab/strategies/trial.hpp"

namespace kevo::strategies {
namespace {

constexpr double hottest = 1.0;
constexpr double coldest = 0.001;
constexpr double cooling = 0.995;
constexpr int stuck_after = 100;

bool accepted(double from, double to, double temperature, rng& random) {
  if (to <= from) return true;
  if (std::isinf(to)) return false;
  return random.uniform() < std::exp((from - to) / (from * temperature));
}

}  // namespace

void annealing(trial& on, rng& random) {
  while (!on.done()) {
    recorded_setting now = on.any(random);
    double cost = on.cost(now);
    int stuck = 0;
    for (double temperature = hottest; temperature > coldest && stuck < stuck_after && !on.done();
         temperature *= cooling) {
      const recorded_setting next = on.neighbour(now, random);
      const double other = on.cost(next);
      ++stuck;
      if (!accepted(cost, other, temperature, random)) continue;
      if (other != cost) stuck = 0;
      now = next;
      cost = other;
    }
  }
}

}  // namespace kevo::strategies
