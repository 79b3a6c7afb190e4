// Variation operators by name: how an entry of `vary.operators:` becomes one.

#include <kevo/registry.hpp>

#include "operators/splice/splice.hpp"
#include "operators/tune/tune.hpp"

namespace kevo {
namespace {

tune tune_from(settings& from) {
  tune op;
  op.crossover =
      from.real("crossover", {.def = op.crossover,
                              .min = 0.0,
                              .max = 1.0,
                              .unit = "probability",
                              .doc = "of a cross where another selected candidate has the same tunables"});
  op.neighbour = from.real("neighbour", {.def = op.neighbour,
                                         .min = 0.0,
                                         .max = 1.0,
                                         .unit = "probability",
                                         .doc = "that a step goes to the next value and not to any value"});
  op.another_step = from.real("another_step", {.def = op.another_step,
                                               .min = 0.0,
                                               .max = 1.0,
                                               .unit = "probability",
                                               .doc = "of each further tunable"});
  op.tries = static_cast<std::size_t>(
      from.integer("tries", {.def = static_cast<std::int64_t>(op.tries),
                             .min = 1,
                             .max = 10000,
                             .unit = "settings",
                             .doc = "that may turn out to be seen before all are walked"}));
  op.enumerate = static_cast<std::size_t>(
      from.integer("enumerate", {.def = static_cast<std::int64_t>(op.enumerate),
                                 .min = 0,
                                 .max = 10'000'000,
                                 .unit = "settings",
                                 .doc = "largest number of valid ones that is walked to its end"}));
  return op;
}

splice splice_from(settings& from) {
  splice op;
  op.another_region = from.real("another_region", {.def = op.another_region,
                                                   .min = 0.0,
                                                   .max = 1.0,
                                                   .unit = "probability",
                                                   .doc = "of each further region"});
  op.tries =
      static_cast<std::size_t>(from.integer("tries", {.def = static_cast<std::int64_t>(op.tries),
                                                      .min = 1,
                                                      .max = 10000,
                                                      .unit = "mixtures",
                                                      .doc = "that may turn out to be seen or broken"}));
  return op;
}

}  // namespace

void register_operators(registry& all);  // declared for users in src/plugins/builtin.hpp
void register_operators(registry& all) {
  all.operators.add(
      "tune", [](settings& from, const build_context&) { return any_variation(tune_from(from)); },
      "another setting of the tunables that a source declares");
  all.operators.add(
      "splice", [](settings& from, const build_context&) { return any_variation(splice_from(from)); },
      "regions of one candidate in the place of another's");
}

}  // namespace kevo
