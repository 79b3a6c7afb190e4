// Rules of rewards by name.

#include <kevo/reward.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {

void register_reward_rules(registry& all) {
  all.reward_rules.add(
      "defines_kernel",
      [](settings& from, const build_context&) {
        return defines_kernel(from.texts("words", {.doc = "the source must contain one of these texts"},
                                         std::vector<std::string>{"__global__", "@triton.jit"}));
      },
      "the source of the program defines a kernel");
  all.reward_rules.add(
      "names_own_kernel", [](settings&, const build_context&) { return names_own_kernel(); },
      "a program that defines kernels names one of them outside of its definition, as every launch does");
  all.reward_rules.add(
      "launches_own_kernel",
      [](settings& from, const build_context&) {
        return launches_own_kernel(
            from.real("least", {.def = 1e-3,
                                .min = 0.0,
                                .max = 1.0,
                                .doc = "least share of the device time that the program's own kernels must "
                                       "take; a program of which this was not measured keeps the rule"}));
      },
      "the program's own kernels take part of the device time");
}

}  // namespace kevo
