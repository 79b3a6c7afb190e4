#include "src/lab/strategies/recorded_strategy.hpp"

#include <array>

namespace kevo {

std::span<const published_strategy> published_strategies() {
  static constexpr std::array all = {
      published_strategy{"genetic", "genetic algorithm (van Werkhoven 2019)", strategies::genetic},
      published_strategy{"annealing", "simulated annealing (Kirkpatrick et al. 1983)", strategies::annealing},
      published_strategy{"local_search", "greedy iterated local search (Schoonhoven et al. 2022)",
                         strategies::local_search},
      published_strategy{"differential_evolution", "best/1/bin (Storn and Price 1997)",
                         strategies::differential_evolution},
      published_strategy{"tpe", "tree-structured Parzen estimator (Bergstra et al. 2011)", strategies::tpe},
  };
  return all;
}

}  // namespace kevo
