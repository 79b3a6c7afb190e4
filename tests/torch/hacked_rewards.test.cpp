// labels: slow
// one processor
// timeout: 120
// Programs that try to get a reward without earning it, judged for real: no recipe pays them anything, and
// each pays their honest twins.

#include <string>

#include <kevo/reward.hpp>

#include "tests/torch/corpus.hpp"

namespace {

struct judged_program {
  std::string name;
  kevo::program source;
  kevo::evaluation result;
};

judged_program judged_file(kevo::torch_fitness& fitness, const std::string& name) {
  const auto e = torch_corpus::read_exhibit(KEVO_SOURCE_DIR "/tests/torch/" + name);
  return {name, kevo::program_of("python", e.text), torch_corpus::evaluate(fitness, e.text)};
}

kevo::reward_terms terms_of(const judged_program& judged, const judged_program& parent) {
  return kevo::reward_terms_of(judged.source, judged.result, &parent.result,
                               {kevo::names_own_kernel(), kevo::launches_own_kernel()});
}

}  // namespace

TEST_CASE("a decoy kernel, a forged end of the timed call and a cached result earn nothing in any recipe") {
  auto fitness = torch_corpus::fitness_for("layer");
  if (!fitness) return;
  const auto plain = judged_file(*fitness, "honest/plain.py");
  for (const auto& honest : {plain, judged_file(*fitness, "honest/triton_in_the_interpreter.py")}) {
    CAPTURE(honest.name);
    REQUIRE_MESSAGE(honest.result.valid(), torch_corpus::said(honest.result));
    for (const auto& recipe : kevo::reward_recipes()) {
      CAPTURE(recipe);
      CHECK(*kevo::reward_of_recipe(recipe, terms_of(honest, plain)) > 0);
    }
  }
  // Right results without a kernel; a lie about the time, which is caught, because no clock can be replaced
  // in a process that has none; wrong results.
  for (const char* name : {"decoy_kernel", "early_done", "cached_by_shape"}) {
    const auto hacked = judged_file(*fitness, std::string("attacks/") + name + ".py");
    CAPTURE(hacked.name);
    CAPTURE(torch_corpus::said(hacked.result));
    const auto terms = terms_of(hacked, plain);
    CHECK_FALSE(terms.eligible());
    for (const auto& recipe : kevo::reward_recipes()) {
      CAPTURE(recipe);
      const double reward = *kevo::reward_of_recipe(recipe, terms);
      // QiMeng-Kernel's recipe takes something off for results that are wrong and for time-outs.
      const bool punished = recipe == "stages" && !terms.correct && !terms.cheated;
      CHECK(reward == doctest::Approx(punished ? -0.4 : 0).epsilon(1e-12));
    }
  }
}
