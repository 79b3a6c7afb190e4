// The graph of recorded runs: what an evaluation and a confirmation return, and what is proposed at a parent.

#include <set>

#include <doctest/doctest.h>

#include <kevo/lab/recorded_run.hpp>

#include "tests/support/toy_search.hpp"

using namespace kevo;

namespace {

std::shared_ptr<const evaluation> timed(double speedup, bool cached = false) {
  auto e = std::make_shared<evaluation>(toy::valued(speedup, evaluation_stage::timed_full));
  e->cached = cached;
  return e;
}
recorded_program program_with(int number, std::shared_ptr<const evaluation> result,
                              std::shared_ptr<const evaluation> confirmed,
                              std::vector<std::size_t> children = {}) {
  return {std::make_shared<const program>(toy::program_of(number)), std::move(result), std::move(confirmed),
          std::move(children)};
}

}  // namespace

TEST_CASE("a confirmation returns what was confirmed, and what is left of a parent runs out") {
  const auto incorrect = std::make_shared<evaluation>(toy::valued(0, evaluation_stage::timed_full));
  auto slow = std::make_shared<evaluation>(*timed(3));
  slow->cost = {.wall_s = 5, .device_s = 1, .waited_s = 2};
  const auto graph = std::make_shared<const recorded_run_graph>(std::vector<recorded_program>{
      program_with(0, timed(2), nullptr, {1, 2, 4}), program_with(1, slow, timed(4), {3}),
      program_with(2, timed(9, true), incorrect), program_with(3, timed(5), nullptr),
      program_with(4, nullptr, nullptr)});
  CHECK(graph->best() == 2.5);
  CHECK(graph->value(1) == 2);
  CHECK(graph->value(2) == 0);
  const recorded_run_fitness fitness(graph);
  const auto evaluated = [&](int number, evaluation_stage wanted) {
    return fitness.evaluate(
        {.program = std::make_shared<const program>(toy::program_of(number)), .wanted = wanted});
  };
  const evaluation first = evaluated(1, evaluation_stage::timed_full);
  CHECK(first.score == 3);
  CHECK(first.cost.wall_s == 3);  // without the wait
  CHECK(evaluated(1, evaluation_stage::confirmed).score == 4);
  CHECK(evaluated(1, evaluation_stage::confirmed).speedup_interval == interval{4, 4});
  CHECK(evaluated(2, evaluation_stage::timed_full).score == 9);
  CHECK(!evaluated(2, evaluation_stage::timed_full).cached);
  CHECK(evaluated(2, evaluation_stage::confirmed).outcome == outcome::incorrect);
  CHECK(evaluated(3, evaluation_stage::confirmed).score == 5);
  CHECK(evaluated(3, evaluation_stage::confirmed).stage == evaluation_stage::confirmed);
  CHECK(evaluated(4, evaluation_stage::timed_full).outcome == outcome::build_failed);
  CHECK(evaluated(77, evaluation_stage::timed_full).cost.wall_s == 0);

  std::set<std::string> seen = {to_string(graph->id(0))};
  const auto services = std::make_shared<variation_services>();
  services->seen = [&](const content_id& id) { return seen.contains(to_string(id)); };
  const auto asked_at = [&](int number) {
    variation_request request;
    request.services = services;
    request.parents = {std::make_shared<const candidate_snapshot>(candidate_snapshot{
        0, std::make_shared<const program>(toy::program_of(number)), nullptr, "seed", {}})};
    rng random(1);
    variation_result made = recorded_proposal{graph}.vary(request, random);
    if (const auto* p = std::get_if<proposal>(&made)) seen.insert(to_string(id_of(p->program)));
    return made;
  };
  CHECK(std::holds_alternative<proposal>(asked_at(0)));
  CHECK(std::holds_alternative<proposal>(asked_at(0)));
  const variation_result none = asked_at(0);
  REQUIRE(std::holds_alternative<no_proposal>(none));  // the program that was never evaluated is left out
  CHECK(!std::get<no_proposal>(none).exhausted);
  CHECK(std::holds_alternative<no_proposal>(asked_at(77)));
  CHECK(std::get<proposal>(asked_at(1)).program == toy::program_of(3));
  CHECK(std::get<no_proposal>(asked_at(1)).exhausted);
}
