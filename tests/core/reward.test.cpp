// links: core
// Rewards against numbers worked by hand, and the same zero for every way of cheating.

#include <doctest/doctest.h>

#include <kevo/reward.hpp>

namespace {

using namespace kevo;

evaluation judged(outcome how, double speedup) {
  evaluation e;
  e.outcome = how;
  e.speedup = how == outcome::valid ? speedup : 0;
  return e;
}

TEST_CASE("the terms come from the evaluation") {
  const auto parent = judged(outcome::valid, 2);
  auto fast = judged(outcome::valid, 3);
  fast.measures["own_kernel_share"] = 0.4;
  const auto terms = reward_terms_of(fast, &parent);
  CHECK(terms.eligible());
  CHECK(terms.speedup == 3);
  CHECK(terms.parent_speedup == 2);
  CHECK(terms.own_kernel_share == 0.4);
  CHECK_FALSE(reward_terms_of(judged(outcome::build_failed, 0)).built);
  CHECK(reward_terms_of(judged(outcome::incorrect, 0)).ran);
  CHECK_FALSE(reward_terms_of(judged(outcome::crashed, 0)).ran);
  const auto wrong = judged(outcome::incorrect, 9);
  CHECK(reward_terms_of(fast, &wrong).parent_speedup == 0);
}

TEST_CASE("recipes against numbers worked by hand") {
  reward_terms terms{.built = true, .ran = true, .correct = true, .speedup = 2.5, .parent_speedup = 2};
  CHECK(autotriton_reward(terms) == 1);
  CHECK(dr_kernel_reward(terms) == doctest::Approx(3.5));  // 1 + 2.5 + 0
  terms.own_kernel_share = 0.6;
  CHECK(dr_kernel_reward(terms) == doctest::Approx(4.1));
  terms.speedup = 8;
  CHECK(dr_kernel_reward(terms) == doctest::Approx(4.6));  // 1 + min(8, 3) + 0.6
  CHECK(kernel_smith_reward(terms) == doctest::Approx(4));
  terms.parent_speedup = 0;
  CHECK(kernel_smith_reward(terms) == doctest::Approx(8));
}

TEST_CASE("CUDA-L1 rounds toward 1, doubts jumps and wants the second measurement to agree") {
  const auto rounded = [](double speedup) {
    return cuda_l1_reward({.built = true, .ran = true, .correct = true, .speedup = speedup});
  };
  CHECK(rounded(1.118) == doctest::Approx(1.11).epsilon(1e-12));
  CHECK(rounded(0.992) == doctest::Approx(1.0).epsilon(1e-12));
  CHECK(rounded(0.981) == doctest::Approx(0.99).epsilon(1e-12));
  CHECK(rounded(1.29) == doctest::Approx(1.29).epsilon(1e-12));  // (1.29 - 1) * 100 is below 29 in doubles
  CHECK(cuda_l1_doubts(3.1, 0));
  CHECK(cuda_l1_doubts(2.5, 1.2));
  CHECK_FALSE(cuda_l1_doubts(2.3, 1.2));
  CHECK(cuda_l1_agrees(3.0, 3.3));
  CHECK_FALSE(cuda_l1_agrees(3.0, 3.4));
}

TEST_CASE("CUDA-L1 measures a jump once more, and pays for it only if the second measurement agrees") {
  int asked = 0;
  const auto reward = [&asked](double speedup, double best_so_far, double second) {
    asked = 0;
    return cuda_l1_checked_reward({.built = true, .ran = true, .correct = true, .speedup = speedup},
                                  best_so_far, [&] { return ++asked, second; });
  };
  CHECK(reward(2.5, 2, 0) == doctest::Approx(2.5));
  CHECK(asked == 0);
  CHECK(reward(4, 0, 3.9) == doctest::Approx(4));
  CHECK(asked == 1);
  CHECK(reward(4, 0, 3) == 0);
  CHECK(reward(2.5, 1.2, 2.4) == doctest::Approx(2.5));
  CHECK(asked == 1);
  CHECK(reward(2.5, 1.2, 0) == 0);
  const reward_terms wrong{.built = true, .ran = true, .speedup = 4};
  CHECK(cuda_l1_checked_reward(wrong, 0, [&asked] { return ++asked, 4; }) == 0);
  CHECK(asked == 1);
}

TEST_CASE("stages add up and decay") {
  CHECK(stage_reward_of_step(reward_terms_of(judged(outcome::build_failed, 0))) == doctest::Approx(-1));
  CHECK(stage_reward_of_step(reward_terms_of(judged(outcome::crashed, 0))) == doctest::Approx(-0.4));
  const auto parent = judged(outcome::valid, 2);
  CHECK(stage_reward_of_step(reward_terms_of(judged(outcome::valid, 2.01), &parent)) == doctest::Approx(0.6));
  CHECK(stage_reward_of_step(reward_terms_of(judged(outcome::valid, 2.2), &parent)) == doctest::Approx(1.6));
  CHECK(stage_reward_of_step(reward_terms_of(judged(outcome::valid, 2.2), &parent), 2) ==
        doctest::Approx(1.6 * 0.81));
}

TEST_CASE("what was only built is unchecked, whoever built it, and earns nothing in any recipe") {
  evaluation built;
  built.outcome = outcome::valid;
  built.speedup = built.score = 2;
  CHECK(with_stage(built, evaluation_stage::checked).valid());
  // Of a fitness function without stages, or of an earlier version.
  built = with_stage(built, evaluation_stage::built);
  CHECK(built.outcome == outcome::unchecked);
  CHECK_FALSE(built.valid());
  CHECK_FALSE(built.failed());
  CHECK(built.score == 0);
  const auto parent = judged(outcome::valid, 1);
  for (const auto& recipe : reward_recipes()) {
    CAPTURE(recipe);
    CHECK(reward_of_recipe(recipe, reward_terms_of(built, &parent)) == 0.0);
  }
}

TEST_CASE("what was hacked earns nothing in any recipe") {
  const auto parent = judged(outcome::valid, 1);
  // A replaced timer and a cached result are `rejected` or `suspect`.
  for (const auto how : {outcome::rejected, outcome::suspect}) {
    auto cheat = judged(how, 0);
    cheat.speedup = 40;  // even if somebody wrote a number there
    const auto terms = reward_terms_of(cheat, &parent);
    for (const auto& recipe : reward_recipes()) {
      CAPTURE(recipe);
      CHECK(reward_of_recipe(recipe, terms) == 0.0);
    }
  }
  // A decoy: a kernel is defined, and does none of the work.
  auto decoy = judged(outcome::valid, 2);
  decoy.measures["own_kernel_share"] = 0;
  const auto source = single_file_program("python", "x.py", "@triton.jit\ndef e(): pass\n");
  const auto terms = reward_terms_of(source, decoy, &parent, {defines_kernel(), launches_own_kernel()});
  REQUIRE(terms.broken_rules.size() == 1);
  CHECK(terms.broken_rules.front().rule == "launches_own_kernel");
  for (const auto& recipe : reward_recipes()) {
    CAPTURE(recipe);
    CHECK(reward_of_recipe(recipe, terms) == 0.0);
  }
  CHECK_FALSE(reward_of_recipe("no such", terms));
}

TEST_CASE(
    "a hacked program never gains: 0 in each recipe, or the negative reward of an incorrect one in stages") {
  const auto parent = judged(outcome::valid, 1);
  // What a cached result, a forged end, a lie about the time or a detector of the test ends as.
  for (const auto name : outcome_names) {
    const outcome how = *parse_outcome(name);
    if (how == outcome::valid) continue;
    auto hacked = judged(how, 0);
    hacked.speedup = 40;
    hacked.measures["own_kernel_share"] = 1;
    const auto terms = reward_terms_of(hacked, &parent);
    for (const auto& recipe : reward_recipes()) {
      CAPTURE(recipe);
      CAPTURE(name);
      const double reward = *reward_of_recipe(recipe, terms);
      // Not caught as a cheat, only as wrong.
      const bool incorrect = !terms.cheated && !terms.unchecked;
      if (recipe != "stages" || !incorrect) {
        CHECK(reward == 0.0);
      } else {
        CHECK(reward == doctest::Approx(how == outcome::build_failed ? -1 : -0.4));
      }
      CHECK(reward <= 0);
    }
  }
}

TEST_CASE("a kernel that is named nowhere else is a decoy") {
  const auto kept = [](const std::string& text) {
    const auto source = single_file_program("python", "x.py", text);
    const auto terms = reward_terms_of(source, judged(outcome::valid, 2), nullptr, {names_own_kernel()});
    if (!terms.broken_rules.empty()) {
      CHECK(terms.broken_rules.front() ==
            broken_rule{"names_own_kernel", "no kernel that is defined in the source is launched"});
      for (const auto& recipe : reward_recipes()) CHECK(reward_of_recipe(recipe, terms) == 0.0);
    }
    return terms.eligible();
  };
  const std::string kernel =
      "@triton.autotune([], key=[])\n@triton.jit\n# of rows\ndef relu(x, y):\n    pass\n";
  CHECK_FALSE(kept(kernel + "def f(x):\n    # relu[(1,)](x, x)\n    return torch.relu(x) + my_relu(x)\n"));
  CHECK(kept(kernel + "def f(x):\n    relu[(1,)](x, x)\n"));
  CHECK(kept(kernel + "def f(x): relu.run(x, x, grid=(1,))\n"));
  CHECK(kept(kernel + "# kevo: launch relu<<<1>>>(x, y)\n"));
  CHECK(kept(kernel + "@jit\ndef unused():\n    pass\nrelu[(1,)](x, x)\n"));  // one of them is enough
  const std::string global = "template <int B> __global__ void __launch_bounds__(256) k(float* x) {}\n";
  CHECK_FALSE(kept(global));
  CHECK_FALSE(kept(global + "  // k<<<1, 256>>>(x);\n"));
  CHECK(kept(global + "void run(float* x) { k<2><<<1, 256>>>(x); }\n"));
  CHECK(kept(global + "// kevo: launch k<<<1, 256>>>(x)\n"));
  CHECK(kept("import torch\n"));  // defines_kernel is another rule
}

TEST_CASE("a rule names what a program lacks") {
  const auto source = single_file_program("python", "x.py", "import torch\n");
  const auto terms = reward_terms_of(source, judged(outcome::valid, 2), nullptr, {defines_kernel()});
  REQUIRE(terms.broken_rules.size() == 1);
  CHECK(terms.broken_rules.front() == broken_rule{"defines_kernel", "no kernel is defined in the source"});
  CHECK(autotriton_reward(terms) == 0);
}

}  // namespace
