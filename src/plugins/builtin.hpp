#pragma once
// The plug-ins that kevo ships, one function a role.

#include <kevo/plugins.hpp>

namespace kevo {

void register_selectors(registry& all);
void register_archives(registry& all);
void register_portfolios(registry& all);
void register_stop_rules(registry& all);
void register_operators(registry& all);
void register_model_operators(registry& all);
void register_landscape_moves(registry& all);
void register_fitness(registry& all);
void register_cuda_fitness(registry& all);    ///< called by `register_fitness`
void register_remote_fitness(registry& all);  ///< called by `register_fitness`
void register_evaluators(registry& all);
void register_rankers(registry& all);
void register_filters(registry& all);
void register_reward_rules(registry& all);

}  // namespace kevo
