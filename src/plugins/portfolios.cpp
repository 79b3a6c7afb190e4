// Portfolios by name: how `vary.portfolio:` becomes a policy.

#include <kevo/vary/ucb1.hpp>
#include <kevo/vary/uniform.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {

void register_portfolios(registry& all) {
  all.portfolios.add(
      "ucb1",
      [](settings& from, const build_context&) {
        ucb1 policy;
        policy.exploration =
            from.real("exploration",
                      {.def = 1.0, .min = 0.0, .doc = "weight of the confidence term; 1 is the paper's"});
        policy.floor = from.real(
            "floor", {.def = 0.05, .min = 0.0, .max = 1.0, .doc = "least probability of every operator"});
        return any_portfolio(policy);
      },
      "UCB1 on improvement per cost, with a floor of exploration");
  all.portfolios.add(
      "uniform", [](settings&, const build_context&) { return any_portfolio(uniform_portfolio{}); },
      "every operator as often");
}

}  // namespace kevo
