// Rankers by name, and how a config's `screen:` becomes a screening.

#include <kevo/learn/gaussian_process.hpp>
#include <kevo/learn/ridge.hpp>
#include <kevo/tunable_features.hpp>

#include "src/plugins/builtin.hpp"
#include "src/plugins/count_setting.hpp"
#include "src/plugins/screen.hpp"

namespace kevo {
screening screening_from(settings& from, const build_context& context, const registry& plugins) {
  screening made;
  made.pool = count_from(from, "pool", made.pool,
                         {.min = 1,
                          .max = 100'000,
                          .unit = "proposals",
                          .doc = "number of waiting proposals from which the next evaluation is chosen"});
  made.drop = count_from(
      from, "drop", made.drop,
      {.min = 0,
       .max = 100'000,
       .unit = "proposals",
       .doc = "number of lowest-ranked proposals that are discarded from a full pool at each choice"});
  if (made.drop >= made.pool)
    from.fail("drop", "drop must be smaller than pool", "reduce drop or increase pool");
  made.epsilon =
      from.real("epsilon",
                {.def = made.epsilon,
                 .min = 0.0,
                 .max = 1.0,
                 .doc = "probability that a random proposal is evaluated instead of the highest-ranked one"});
  made.warmup =
      count_from(from, "warmup", made.warmup,
                 {.min = 2,
                  .max = 100'000,
                  .unit = "evaluations",
                  .doc = "number of evaluations used for training before proposals are ranked; until then "
                         "the oldest proposal comes first"});
  made.features.more = tunable_features{};
  made.ranker = plugins.rankers.make(from, context, "type", "ridge");
  return made;
}

void register_rankers(registry& all) {
  all.rankers.add(
      "ridge",
      [](settings& from, const build_context&) {
        ridge model;
        model.penalty =
            from.real("penalty", {.def = model.penalty, .above = 0.0, .doc = "weight of the L2 penalty"});
        model.refit = count_from(from, "refit", model.refit,
                                 {.min = 1,
                                  .max = 100'000,
                                  .unit = "evaluations",
                                  .doc = "number of evaluations between two fits of the model"});
        return any_ranker(model);
      },
      "ridge regression on the n-grams of the source, the values of its tunables, and the score and measures "
      "of the parent");
  all.rankers.add(
      "gaussian_process",
      [](settings& from, const build_context&) {
        gaussian_process model;
        model.memory = count_from(from, "memory", model.memory,
                                  {.min = 2,
                                   .max = 100'000,
                                   .unit = "evaluations",
                                   .doc = "number of most recent evaluations that the model is fitted to"});
        model.noise =
            from.real("noise", {.def = model.noise,
                                .above = 0.0,
                                .doc = "variance of the noise as a fraction of the variance of the scores"});
        model.optimism = from.real(
            "optimism", {.def = model.optimism,
                         .min = 0.0,
                         .doc = "number of predicted standard deviations added to the predicted mean"});
        model.refit = count_from(from, "refit", model.refit,
                                 {.min = 1,
                                  .max = 100'000,
                                  .unit = "evaluations",
                                  .doc = "number of evaluations between two fits of the model"});
        return any_ranker(model);
      },
      "Gaussian process on the n-grams of the source, the values of its tunables, and the score and measures "
      "of the parent");
}

}  // namespace kevo
