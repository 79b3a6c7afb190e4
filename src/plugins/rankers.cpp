// Rankers by name, and how a config's `screen:` becomes a screening.

#include <kevo/learn/gaussian_process.hpp>
#include <kevo/learn/ridge.hpp>

#include "src/plugins/builtin.hpp"
#include "src/plugins/screen.hpp"

namespace kevo {
namespace {

std::size_t count_from(settings& from, const char* key, std::size_t def, std::int64_t min, const char* unit,
                       const char* doc) {
  return static_cast<std::size_t>(from.integer(
      key, {.def = static_cast<std::int64_t>(def), .min = min, .max = 100'000, .unit = unit, .doc = doc}));
}

}  // namespace

screening screening_from(settings& from, const build_context& context, const registry& plugins) {
  screening made;
  made.pool = count_from(from, "pool", made.pool, 1, "proposals", "that wait while the first is chosen");
  made.drop = count_from(from, "drop", made.drop, 0, "proposals",
                         "last ones of a full pool that are never evaluated, at each choice");
  if (made.drop >= made.pool)
    from.fail("drop", "a choice cannot drop the whole pool", "let drop be below pool");
  made.epsilon = from.real(
      "epsilon",
      {.def = made.epsilon, .min = 0.0, .max = 1.0, .doc = "probability that any one is evaluated"});
  made.warmup =
      count_from(from, "warmup", made.warmup, 2, "evaluations", "to learn from before anything is ranked");
  made.ranker = plugins.rankers.make(from, context, "type", "ridge");
  return made;
}

void register_rankers(registry& all) {
  all.rankers.add(
      "ridge",
      [](settings& from, const build_context&) {
        ridge model;
        model.penalty =
            from.real("penalty", {.def = model.penalty, .above = 0.0, .doc = "of the squared weights"});
        model.refit = count_from(from, "refit", model.refit, 1, "evaluations", "between two fits");
        return any_ranker(model);
      },
      "ridge regression on the source's n-grams and the parent's score and measures");
  all.rankers.add(
      "gaussian_process",
      [](settings& from, const build_context&) {
        gaussian_process model;
        model.memory =
            count_from(from, "memory", model.memory, 2, "evaluations", "latest ones that are fitted");
        model.noise =
            from.real("noise", {.def = model.noise, .above = 0.0, .doc = "share of the scores' variance"});
        model.optimism = from.real(
            "optimism", {.def = model.optimism, .min = 0.0, .doc = "standard deviations added to the mean"});
        model.refit = count_from(from, "refit", model.refit, 1, "evaluations", "between two fits");
        return any_ranker(model);
      },
      "a small Gaussian process on the same features");
}

}  // namespace kevo
