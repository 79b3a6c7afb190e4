// A policy over the actions of `rewrite` chooses what a language model carries out.
#include <doctest/doctest.h>

#include <kevo/operators/macro_steps.hpp>
#include <kevo/operators/rewrite.hpp>

#include "tests/operators/llm/bench.hpp"
#include "tests/support/skip.hpp"

TEST_CASE("macro_micro asks a model for the action of rewrite that the policy chooses") {
  try {
    kevo::require_rewrite_parser();
  } catch (const kevo::error&) {
    return kevo_test::skip("this kevo was built without libclang");
  }
  const std::string made =
      "Summary: four at a time\n\n```cpp\n#include <cstdint>\nextern \"C\" void run(const float* X, float* "
      "Y, int64_t N) {\n"
      "  for (int64_t i = 0; i < N; ++i) Y[i] = X[i] + X[i];\n}\n```\n";
  scripted::server server([&](const scripted::request&) { return scripted::says(made); });
  llm_test::bench b(server);
  std::vector<double> state;
  kevo::action_policy policy;
  policy.name = "always unroll";
  policy.weights = [&state](const kevo::action_choice& choice, std::span<const kevo::tried_action> tried) {
    CHECK(tried.empty());
    state = choice.state;
    std::vector<double> weights;
    for (const auto& one : choice.actions) weights.push_back(one.type == "unroll" ? 1 : 0);
    return weights;
  };
  const auto result = b.vary(kevo::macro_micro(b.settings(), {"unused"}, kevo::rewrite_steps(policy)));
  const auto* proposed = std::get_if<kevo::proposal>(&result);
  REQUIRE(proposed != nullptr);
  CHECK(proposed->summary == "unroll: four at a time");
  CHECK(has(b.notes, "[macro] unroll of loop i"));
  CHECK(has(server.seen().back().body, "Step: unroll of loop i"));
  CHECK(!has(server.seen().back().body, "unused"));
  CHECK(state.size() == kevo::rewrite_features().states.size());

  policy.weights = [](const kevo::action_choice& choice, std::span<const kevo::tried_action>) {
    return std::vector<double>(choice.actions.size(), 0.0);
  };
  const auto none = b.vary(kevo::macro_micro(b.settings(), {"unused"}, kevo::rewrite_steps(policy)));
  CHECK(std::get_if<kevo::no_proposal>(&none) != nullptr);

  b.request.parents = {llm_test::candidate(4, "no source", 1)};
  const auto unread = b.vary(kevo::macro_micro(b.settings(), {"unused"}, kevo::rewrite_steps(policy)));
  CHECK(std::get_if<kevo::no_proposal>(&unread) != nullptr);
}
