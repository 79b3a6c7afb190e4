// Variation operators that ask no language model, by name: how an entry of `vary.operators:` becomes one.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kevo/registry.hpp>

#include "operators/numbers/numbers.hpp"
#include "operators/splice/splice.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/count_setting.hpp"
#include "src/plugins/rewrite.hpp"
#include "src/plugins/tune.hpp"

namespace kevo {
namespace {

splice splice_from(settings& from) {
  splice op;
  op.another_region =
      from.real("another_region",
                {.def = op.another_region,
                 .min = 0.0,
                 .max = 1.0,
                 .unit = "probability",
                 .doc = "probability of replacing one more region, applied again after each replacement"});
  op.tries = count_from(
      from, "tries", op.tries,
      {.min = 1,
       .max = 10000,
       .unit = "programs",
       .doc =
           "number of combinations that may turn out to be known or invalid before the operator gives up"});
  return op;
}

numbers numbers_from(settings& from) {
  numbers op;
  op.small = from.real("small", {.def = op.small,
                                 .above = 0.0,
                                 .doc = "a small step multiplies a number by a random factor; this is the "
                                        "standard deviation of the factor's logarithm"});
  op.large = from.real("large", {.def = op.large, .above = 0.0, .doc = "the same for a large step"});
  op.another = from.real("another",
                         {.def = op.another,
                          .min = 0.0,
                          .max = 1.0,
                          .unit = "probability",
                          .doc = "probability of changing one more number, applied again after each change"});
  op.tries =
      count_from(from, "tries", op.tries,
                 {.min = 1,
                  .max = 10000,
                  .unit = "programs",
                  .doc = "number of programs that may turn out to be known before the operator gives up"});
  return op;
}

}  // namespace

void register_operators(registry& all) {
  all.operators.add(
      "tune",
      [](settings& from, const build_context& context) {
        tune op = tune_from(from);
        const auto runs = paths_from(
            from, "learn_from",
            {.doc = "folders of other runs of this source, on other devices or with other sizes, relative "
                    "to the config; the model starts from their results. They must not change until this "
                    "run ends"},
            context.directory, std::vector<std::string>{});
        if (!runs.empty())
          op.experience = std::make_shared<const std::vector<tune_experience>>(
              experience_of_runs(runs, from.place("learn_from")));
        return any_variation(std::move(op));
      },
      "changes the values of the tunables that a source declares");
  all.operators.add(
      "numbers", [](settings& from, const build_context&) { return any_variation(numbers_from(from)); },
      "changes number literals of a source in any language, within its EVOLVE-BLOCKs if it has any");
  all.operators.add(
      "splice", [](settings& from, const build_context&) { return any_variation(splice_from(from)); },
      "replaces regions of the parent by the regions of the same name in another candidate");
  all.operators.add(
      "rewrite",
      [](settings& from, const build_context& context) { return any_variation(rewrite_from(from, context)); },
      "changes loops of C++ and CUDA sources and how threads share them (exchanging, unrolling, staging and "
      "other actions); needs libclang");
}

}  // namespace kevo
