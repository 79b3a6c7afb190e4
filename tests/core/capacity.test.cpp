// links: core
// A search hands out only the kinds of job that its driver can take.
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/run_to_end.hpp>
#include <kevo/search.hpp>

#include "tests/support/toy_search.hpp"

using namespace kevo;

namespace {

/// Has no memory: measures the best again until it was measured three times.
struct measure_again_below_3 {
  selection select(const population_view& view, rng&) {
    const candidate_id best = view.nth_best(0);
    return {.parents = {best}, .reevaluate = view.row(best).evaluations < 3};
  }
};
struct always_again {
  selection select(const population_view& view, rng&) {
    return {.parents = {view.nth_best(0)}, .reevaluate = true};
  }
};

search_parts with_selector(any_selector select, std::uint64_t evaluations,
                           std::vector<event>* events = nullptr) {
  auto made = toy::parts({.evaluations = evaluations}, toy::recorder{events});
  made.select = std::move(select);
  return made;
}

/// Evaluates the seed, and confirms it.
void begin(search& engine) {
  for (int i = 0; i < 2; ++i) {
    const job next = engine.ask({}, 0);
    const auto& seed = std::get<evaluation_job>(next);
    engine.tell(seed.id, toy::hill{}.evaluate(seed.request), 0);
  }
}

}  // namespace

TEST_CASE("a driver that cannot evaluate is never given an evaluation, and a selector is not asked again") {
  std::vector<event> events;
  search engine(with_selector(always_again{}, 1000, &events), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  begin(engine);
  const capacity only_vary{.vary = true, .evaluate = false};
  for (int i = 0; i < 5; ++i) REQUIRE(std::holds_alternative<wait_job>(engine.ask(only_vary, 0)));
  std::size_t decided = 0;
  for (const event& e : events) {
    const auto* asked = std::get_if<evaluation_asked>(&e.payload);
    decided += asked != nullptr && asked->fresh ? 1 : 0;
  }
  CHECK(decided == 1);  // recorded when it was decided, so that a replay decides it there, too
  CHECK(engine.outstanding() == 1);
  // It is the first thing that is handed out once there is room, whatever else is free.
  const job next = engine.ask({.vary = false, .evaluate = true}, 0);
  const auto* again = std::get_if<evaluation_job>(&next);
  REQUIRE(again != nullptr);
  CHECK(again->request.fresh);
  engine.tell(again->id, toy::hill{}.evaluate(again->request), 0);
  CHECK(engine.outstanding() == 0);
  CHECK(std::holds_alternative<wait_job>(engine.ask({.vary = false, .evaluate = true}, 0)));
}

TEST_CASE("a driver with few places comes to the end of a selector that measures again") {
  constexpr std::size_t places = 2;
  search engine(with_selector(measure_again_below_3{}, 60), {.seed = 2});
  engine.add_seed(toy::program_of(500), 0);
  std::deque<variation_job> varying;
  std::deque<evaluation_job> evaluating;
  toy::step operate;
  int asked = 0;
  for (bool open = true; open || !varying.empty() || !evaluating.empty();) {
    for (bool more = open; more;) {  // as the driver with threads does: asks until it is told to wait
      REQUIRE(++asked < 10000);
      const capacity free{.vary = varying.size() < places, .evaluate = evaluating.size() < places};
      job next = engine.ask(free, 0);
      more = false;
      if (auto* turn = std::get_if<variation_job>(&next)) {
        REQUIRE(free.vary);
        varying.push_back(std::move(*turn));
        more = true;
      } else if (auto* work = std::get_if<evaluation_job>(&next)) {
        REQUIRE(free.evaluate);
        evaluating.push_back(std::move(*work));
        more = true;
      } else if (std::holds_alternative<stop_job>(next)) {
        open = false;
      }
    }
    if (!varying.empty()) {
      auto& turn = varying.front();
      engine.tell(turn.id, operate.vary(turn.request, turn.random), {}, "", 0);
      varying.pop_front();
    } else if (!evaluating.empty()) {
      engine.tell(evaluating.front().id, toy::hill{}.evaluate(evaluating.front().request), 0);
      evaluating.pop_front();
    }
  }
  CHECK(engine.stopped() == "60 evaluations");
  CHECK(engine.outstanding() == 0);
  CHECK(engine.population().row(0).evaluations >= 3);
}

TEST_CASE(
    "an evaluation that is held when the search stops does not keep it from ending, and is done after it") {
  search engine(with_selector(always_again{}, 1000), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  begin(engine);
  CHECK(std::holds_alternative<wait_job>(engine.ask({.vary = true, .evaluate = false}, 0)));
  engine.stop("enough", 0);
  CHECK(std::holds_alternative<stop_job>(engine.ask({}, 0)));
  engine.resume({}, "more", 0);
  const job next = engine.ask({}, 0);
  const auto* again = std::get_if<evaluation_job>(&next);
  REQUIRE(again != nullptr);
  CHECK(again->candidate == 0);
  CHECK(again->request.fresh);
}

TEST_CASE(
    "what operators were paid for is evaluated after a stop, what costs nothing to propose again is not") {
  struct paid_step : toy::step {
    std::string name() const { return "paid_step"; }
    bool replayable() const { return false; }
  };
  for (const bool paid : {true, false}) {
    CAPTURE(paid);
    auto made = toy::parts({.evaluations = 1000}, {});
    if (paid) made.operators = {paid_step{}};
    search engine(std::move(made), {.seed = 3, .proposals_ahead = 6});
    engine.add_seed(toy::program_of(500), 0);
    begin(engine);
    for (int i = 0; i < 4; ++i) {
      job next = engine.ask({.vary = true, .evaluate = false}, 0);
      auto& turn = std::get<variation_job>(next);
      engine.tell(turn.id, engine.operators()[0].vary(turn.request, turn.random), {}, "", 0);
    }
    const std::size_t waiting = engine.population().size() - 1;
    REQUIRE(waiting >= 3);
    engine.stop("enough", 0);
    CHECK(std::holds_alternative<wait_job>(engine.ask({.vary = true, .evaluate = false}, 0)) == paid);
    std::size_t evaluated = 0;
    for (job next = engine.ask({}, 0); !std::holds_alternative<stop_job>(next); next = engine.ask({}, 0)) {
      const auto& work = std::get<evaluation_job>(next);
      evaluated += work.request.wanted == evaluation_stage::timed_full ? 1 : 0;
      engine.tell(work.id, toy::hill{}.evaluate(work.request), 0);
    }
    CHECK(evaluated == (paid ? waiting : 0));
  }
}

TEST_CASE("seeds that wait when a stop rule is met are evaluated, so that there is a champion") {
  search engine(toy::parts({.evaluations = 1}, {}), {});
  for (const int number : {500, 800, 600}) engine.add_seed(toy::program_of(number), 0);
  double now = 0;
  run_to_end(engine, toy::hill{}, [&now] { return now += 0.001; });
  CHECK(engine.stopped() == "1 evaluations");
  CHECK(engine.spent().evaluations == 3);
  CHECK(engine.best().id == 1);
}

TEST_CASE("a search that is interrupted evaluates nothing more, paid for or not") {
  struct paid_step : toy::step {
    bool replayable() const { return false; }
  };
  auto made = toy::parts({.evaluations = 1000}, {});
  made.operators = {paid_step{}};
  search engine(std::move(made), {.seed = 3});
  engine.add_seed(toy::program_of(500), 0);
  begin(engine);
  job next = engine.ask({.vary = true, .evaluate = false}, 0);
  auto& turn = std::get<variation_job>(next);
  engine.tell(turn.id, engine.operators()[0].vary(turn.request, turn.random), {}, "", 0);
  engine.stop("interrupted", 0, false);
  CHECK(std::holds_alternative<stop_job>(engine.ask({}, 0)));
}
