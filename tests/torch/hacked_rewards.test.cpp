// labels: slow
// one processor
// timeout: 120
// Programs that try to get a reward without earning it, judged for real: no recipe pays them anything, and
// each pays their honest twins.

#include <kevo/reward.hpp>

#include "tests/torch/corpus.hpp"

namespace {

struct judged_program {
  kevo::program source;
  kevo::evaluation result;
};

judged_program judged_file(kevo::torch_fitness& fitness, const std::string& name) {
  const auto e = torch_corpus::read_exhibit(KEVO_SOURCE_DIR "/tests/torch/" + name);
  return {kevo::program_of("python", e.text), torch_corpus::evaluate(fitness, e.text)};
}

std::map<std::string, double> rewards_of(const judged_program& judged, const judged_program& parent) {
  const auto terms = kevo::reward_terms_of(judged.source, judged.result, &parent.result,
                                           {kevo::names_own_kernel(), kevo::launches_own_kernel()});
  std::map<std::string, double> all;
  for (const auto& recipe : kevo::reward_recipes()) all[recipe] = *kevo::reward_of_recipe(recipe, terms);
  return all;
}

}  // namespace

TEST_CASE("a decoy kernel, a forged end of the timed call and a cached result earn nothing in any recipe") {
  auto fitness = torch_corpus::fitness_for("layer");
  if (!fitness) return;
  const auto plain = judged_file(*fitness, "honest/plain.py");
  REQUIRE_MESSAGE(plain.result.valid(), torch_corpus::said(plain.result));
  for (const char* name : {"honest/plain.py", "honest/triton_in_the_interpreter.py"}) {
    const auto honest = judged_file(*fitness, name);
    REQUIRE_MESSAGE(honest.result.valid(), torch_corpus::said(honest.result));
    for (const auto& [recipe, reward] : rewards_of(honest, plain)) CHECK_MESSAGE(reward > 0, name, recipe);
  }
  for (const char* name :
       {"attacks/decoy_kernel.py", "attacks/early_done.py", "attacks/cached_by_shape.py"}) {
    const auto hacked = judged_file(*fitness, name);
    INFO(name << " is " << torch_corpus::said(hacked.result));
    // Results that are right, a lie about the time that is caught, results that are wrong.
    const bool punished = !hacked.result.valid() && hacked.result.outcome != kevo::outcome::rejected;
    for (const auto& [recipe, reward] : rewards_of(hacked, plain)) {
      CAPTURE(recipe);
      // QiMeng-Kernel's recipe takes something off for wrong results.
      if (recipe == "stages" && punished)
        CHECK(reward == doctest::Approx(-0.4));
      else
        CHECK(reward == 0);
    }
  }
}
