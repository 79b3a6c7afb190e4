#include "src/plugins/builtin.hpp"

namespace kevo {

registry builtin_plugins() {
  registry all;
  register_selectors(all);
  register_archives(all);
  register_portfolios(all);
  register_stop_rules(all);
  register_operators(all);
  register_model_operators(all);
  register_landscape_moves(all);
  register_fitness(all);
  register_evaluators(all);
  register_rankers(all);
  register_filters(all);
  register_reward_rules(all);
  return all;
}

}  // namespace kevo
