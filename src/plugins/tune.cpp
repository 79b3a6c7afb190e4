// The operator `tune` from a config.

#include "src/plugins/tune.hpp"

#include <string>

#include "src/plugins/count_setting.hpp"

namespace kevo {
namespace {

void read_tune_model(settings& from, tune& op) {
  const std::string model = from.text(
      "model",
      {.def = "gp",
       .doc = "model that learns from the results of the run which settings are worth trying; gp: Gaussian "
              "process; forest: random forest; none: settings are only drawn or changed at random",
       .one_of = {"none", "gp", "forest"}});
  op.model = model == "none" ? tune_model::none
             : model == "gp" ? tune_model::gaussian_process
                             : tune_model::forest;
  op.moves = from.real("moves", {.def = op.moves,
                                 .min = 0.0,
                                 .max = 1.0,
                                 .unit = "probability",
                                 .doc = "with a model, probability of changing the parent's setting instead "
                                        "of taking the setting that the model rates highest"});
  op.climb = from.real("climb", {.def = op.climb,
                                 .min = 0.0,
                                 .max = 1.0,
                                 .unit = "probability",
                                 .doc = "with a model, probability that it chooses only among the unseen "
                                        "settings that differ from the best one in one tunable"});
  op.pool = count_from(
      from, "pool", op.pool,
      {.min = 1,
       .max = 1'000'000,
       .unit = "settings",
       .doc = "with a model, number of random unseen settings from which it chooses; it also considers the "
              "unseen settings that differ in one tunable from one of the ten best"});
  op.memory = count_from(from, "memory", op.memory,
                         {.min = 10,
                          .max = 10'000,
                          .unit = "results",
                          .doc = "with a model, maximum number of results that it is fitted to: first the "
                                 "best ones, up to half of this number, then some of the others"});
  op.divisibility = from.boolean(
      "divisibility",
      {.def = op.divisibility,
       .doc = "with model: gp, whether the model also uses how many times 2 divides a value; 64 and 128 "
              "then resemble each other more than either resembles 80"});
  op.cost = from.real(
      "cost",
      {.def = op.cost,
       .min = 0.0,
       .max = 2.0,
       .doc =
           "with a model, exponent of the expected cost of an evaluation, by which the expected improvement "
           "is divided; 0 maximizes the improvement per evaluation, 1 the improvement per second"});
}

}  // namespace

tune tune_from(settings& from) {
  tune op;
  op.draws = count_from(from, "draws", op.draws,
                        {.min = 0,
                         .max = 1000000,
                         .unit = "candidates",
                         .doc = "while the run has fewer candidates than this (seeds included), valid "
                                "settings are drawn at random; with a model, far from the known ones. After "
                                "that, the parent's setting is changed, or the model chooses one"});
  op.crossover = from.real(
      "crossover",
      {.def = op.crossover,
       .min = 0.0,
       .max = 1.0,
       .unit = "probability",
       .doc =
           "probability of crossing the parent with another selected candidate that has the same tunables"});
  op.neighbour = from.real("neighbour", {.def = op.neighbour,
                                         .min = 0.0,
                                         .max = 1.0,
                                         .unit = "probability",
                                         .doc = "probability that a tunable moves to a neighbouring value of "
                                                "its domain; otherwise it moves to any value"});
  op.another_step = from.real(
      "another_step", {.def = op.another_step,
                       .min = 0.0,
                       .max = 1.0,
                       .unit = "probability",
                       .doc = "probability of changing one more tunable, applied again after each change"});
  op.tries = count_from(
      from, "tries", op.tries,
      {.min = 1,
       .max = 10000,
       .unit = "settings",
       .doc = "number of settings that may turn out to be known before all valid settings are enumerated"});
  op.enumerate = count_from(from, "enumerate", op.enumerate,
                            {.min = 0,
                             .max = 10'000'000,
                             .unit = "settings",
                             .doc = "maximum number of valid settings that are enumerated to find an "
                                    "unseen one; 0 disables enumeration"});
  read_tune_model(from, op);
  return op;
}

}  // namespace kevo
