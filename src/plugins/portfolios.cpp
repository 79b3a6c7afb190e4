// Portfolios by name: how `vary.portfolio:` becomes a policy.

#include <kevo/vary/adaptive_pursuit.hpp>
#include <kevo/vary/exp3.hpp>
#include <kevo/vary/fixed.hpp>
#include <kevo/vary/thompson.hpp>
#include <kevo/vary/ucb1.hpp>
#include <kevo/vary/uniform.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

double floor_from(settings& from) {
  return from.real("floor",
                   {.def = 0.05, .min = 0.0, .max = 1.0, .doc = "minimum probability of each operator"});
}

}  // namespace

void register_portfolios(registry& all) {
  all.portfolios.add(
      "ucb1",
      [](settings& from, const build_context&) {
        ucb1 policy;
        policy.exploration = from.real(
            "exploration",
            {.def = 1.0, .min = 0.0, .doc = "weight of the confidence term; 1 is the published value"});
        policy.floor = floor_from(from);
        return any_portfolio(policy);
      },
      "UCB1 on improvement per second, with a minimum probability for each operator");
  all.portfolios.add(
      "thompson",
      [](settings& from, const build_context&) {
        thompson policy;
        policy.floor = floor_from(from);
        return any_portfolio(policy);
      },
      "Thompson sampling on the probability of a success and the improvement per second");
  all.portfolios.add(
      "exp3",
      [](settings& from, const build_context&) {
        exp3 policy;
        policy.gamma =
            from.real("gamma", {.def = 0.1,
                                .max = 1.0,
                                .above = 0.0,
                                .doc = "probability of a uniformly random operator, and learning rate"});
        return any_portfolio(policy);
      },
      "EXP3 on improvement per second; makes no assumption about how the rewards are distributed");
  all.portfolios.add(
      "adaptive_pursuit",
      [](settings& from, const build_context&) {
        adaptive_pursuit policy;
        policy.alpha = from.real("alpha", {.def = 0.8,
                                           .max = 1.0,
                                           .above = 0.0,
                                           .doc = "learning rate of the quality estimate of an operator"});
        policy.beta = from.real(
            "beta",
            {.def = 0.8, .max = 1.0, .above = 0.0, .doc = "learning rate of the operator probabilities"});
        policy.floor = floor_from(from);
        return any_portfolio(policy);
      },
      "adaptive pursuit: raises the probability of the operator with the best recent reward, and adapts "
      "quickly when that changes (Thierens)");
  all.portfolios.add(
      "fixed",
      [](settings& from, const build_context&) {
        return any_portfolio(fixed_portfolio(
            from.reals("weights",
                       {.min = 0.0,
                        .doc = "relative probability of each operator, in the order of vary.operators; an "
                               "operator without a weight has weight 1"},
                       std::vector<double>{})));
      },
      "uses each operator with a fixed probability");
  all.portfolios.add(
      "uniform", [](settings&, const build_context&) { return any_portfolio(uniform_portfolio{}); },
      "uses all operators with equal frequency");
}

}  // namespace kevo
