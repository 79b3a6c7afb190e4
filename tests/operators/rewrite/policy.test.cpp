// What `rewrite` notes of its choices, and how policies choose for it.

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/operators/rewrite.hpp>

#include "operators/rewrite/parser.hpp"

namespace {

constexpr const char* noted_product = R"(#include <cstdint>
extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}
)";

bool there() {
  try {
    kevo::rewriting::parser_program();
    return true;
  } catch (const kevo::error&) {
    return false;
  }
}

struct turn {
  kevo::variation_result result;
  std::string notes;
};

turn varied(const kevo::rewrite& op, std::uint64_t seed,
            std::shared_ptr<const kevo::told_result> results = nullptr) {
  turn made;
  kevo::variation_services services;
  services.note = [&made](std::string text) { made.notes += text; };
  const auto parent =
      std::make_shared<const kevo::program>(kevo::single_file_program("cpp", "kernel.cpp", noted_product));
  services.program_of = [parent](kevo::candidate_id) { return parent; };
  kevo::variation_request request;
  request.parents = {std::make_shared<const kevo::candidate_snapshot>(
      kevo::candidate_snapshot{0, parent, nullptr, "seed", {}})};
  request.services = std::make_shared<const kevo::variation_services>(services);
  request.results = std::move(results);
  kevo::rng random(seed);
  made.result = op.vary(request, random);
  return made;
}

std::size_t feature(const std::vector<std::string>& names, const char* name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

TEST_CASE("rewrite notes what was possible and what it took") {
  if (!there()) return;
  const kevo::rewrite op{};
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    const turn made = varied(op, seed);
    const auto* proposed = std::get_if<kevo::proposal>(&made.result);
    REQUIRE(proposed != nullptr);
    const auto noted = kevo::recorded_choices(made.notes);
    const auto taken = kevo::actions_of_summary(proposed->summary);
    REQUIRE(noted.size() == taken.size());
    for (std::size_t i = 0; i < noted.size(); ++i) {
      CHECK(noted[i].choice.actions.at(noted[i].chosen).type == taken[i]);
      CHECK(noted[i].choice.state.size() == kevo::rewrite_features().states.size());
      for (const auto& one : noted[i].choice.actions)
        CHECK(one.features.size() == kevo::rewrite_features().regions.size());
    }
    // A run without these notes can be asked again.
    const auto source = kevo::single_file_program("cpp", "kernel.cpp", noted_product);
    const auto again = kevo::choices_in({&source});
    REQUIRE(again);
    REQUIRE(again->actions.size() == noted.front().choice.actions.size());
    for (std::size_t i = 0; i < again->actions.size(); ++i) {
      CHECK(again->actions[i].type == noted.front().choice.actions[i].type);
      CHECK(again->actions[i].region == noted.front().choice.actions[i].region);
      for (std::size_t k = 0; k < again->actions[i].features.size(); ++k)
        CHECK(again->actions[i].features[k] ==
              doctest::Approx(noted.front().choice.actions[i].features[k]).epsilon(0.001));
    }
  }
}

TEST_CASE("notes of another version, or cut off, are no choices") {
  CHECK(kevo::recorded_choices("").empty());
  CHECK(kevo::recorded_choices("[macro] tile of loop\n").empty());
  CHECK(kevo::recorded_choices("[rewrite] {\"features\":\"0\",\"chosen\":0}\n").empty());
  CHECK(kevo::recorded_choices("[rewrite] {\"features\":\n").empty());
}

TEST_CASE("features tell loops apart") {
  if (!there()) return;
  const auto source = kevo::single_file_program("cpp", "kernel.cpp", noted_product);
  const auto all = kevo::choices_in({&source});
  REQUIRE(all);
  const auto& regions = kevo::rewrite_features().regions;
  const auto& states = kevo::rewrite_features().states;
  CHECK(all->state[feature(states, "depth")] == doctest::Approx(0.5));
  CHECK(all->state[feature(states, "cuda")] == 0);
  bool vectorized = false;
  for (const auto& one : all->actions) {
    const bool inner = one.region.find("loop k") == 0;
    if (one.region.find("loop ") == 0) CHECK(one.features[feature(regions, "innermost")] == (inner ? 1 : 0));
    if (one.type == "vectorize" && one.region.find("loop j") == 0) {
      vectorized = true;
      CHECK(one.features[feature(regions, "unit stride")] == doctest::Approx(2.0 / 3));  // B and C
      CHECK(one.features[feature(regions, "no stride")] == doctest::Approx(1.0 / 3));
    }
  }
  CHECK(vectorized);
}

TEST_CASE("a policy chooses, and another action is taken where its favourite is refused") {
  if (!there()) return;
  kevo::rewrite op;
  op.another_action = 0;
  op.policy = {"last", [](const kevo::action_choice& choice, std::span<const kevo::tried_action>) {
                 std::vector<double> weights(choice.actions.size(), 0);
                 weights.back() = 1;
                 return weights;
               }};
  const turn made = varied(op, 1);
  CHECK(std::holds_alternative<kevo::proposal>(made.result));
  // The same request and random numbers give the same program, also when the operator has worked before.
  const auto text_of = [](const turn& one) { return std::get<kevo::proposal>(one.result).program.text(); };
  CHECK(text_of(varied(op, 1)) == text_of(made));
}

TEST_CASE("bandits learn from the results that the request holds, and from nothing else") {
  if (!there()) return;
  const auto result = [](kevo::candidate_id id, double score, kevo::candidate_id parent, std::string summary,
                         std::shared_ptr<const kevo::told_result> before) {
    auto made = std::make_shared<kevo::told_result>();
    made->candidate = id;
    made->outcome = kevo::outcome::valid;
    made->score = score;
    made->parent = parent;
    made->summary = std::move(summary);
    made->before = std::move(before);
    return made;
  };
  const auto source = kevo::single_file_program("cpp", "kernel.cpp", noted_product);
  const auto possible = kevo::choices_in({&source});
  REQUIRE(possible);
  // Everything was tried often; only `vectorize` of one loop gained.
  std::shared_ptr<const kevo::told_result> results = result(0, 1, kevo::no_candidate, "", nullptr);
  std::string good;
  kevo::candidate_id next = 1;
  for (int round = 0; round < 30; ++round) {
    for (const auto& one : possible->actions) {
      const bool gains = one.type == "vectorize" && one.region.find("loop j") == 0;
      if (gains) good = one.type + " " + one.region;
      results = result(next++, gains ? 2 : 1, 0, one.type + " " + one.region, std::move(results));
    }
  }
  REQUIRE(!good.empty());
  for (const bool contextual : {false, true}) {
    CAPTURE(contextual);
    kevo::rewrite op;
    op.another_action = 0;
    op.policy = contextual ? kevo::bandit_actions(kevo::rewrite_features(), 0.1) : kevo::ucb_actions(0.1);
    const turn first = varied(op, 5, results);
    const auto* proposed = std::get_if<kevo::proposal>(&first.result);
    REQUIRE(proposed != nullptr);
    CHECK(proposed->summary.find("vectorize") == 0);
    if (contextual) CHECK(proposed->summary == good);
    kevo::rewrite resumed;  // has no memory
    resumed.another_action = 0;
    resumed.policy = op.policy;
    CHECK(std::get<kevo::proposal>(varied(resumed, 5, results).result).summary == proposed->summary);
  }
}
