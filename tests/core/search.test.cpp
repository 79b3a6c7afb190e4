// links: core
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/run_to_end.hpp>
#include <kevo/search.hpp>

#include "tests/support/toy_search.hpp"

using namespace kevo;

TEST_CASE("a search climbs from its seed, confirms champions and stops by its rule") {
  std::vector<event> events;
  toy::recorder listen{&events};
  search engine(toy::parts({.evaluations = 300}, listen), {.seed = 3});
  engine.add_seed(toy::program_of(500), 0);
  double now = 0;
  run_to_end(engine, toy::hill{}, [&now] { return now += 0.001; });
  REQUIRE(engine.stopped());
  CHECK(*engine.stopped() == "300 evaluations");
  CHECK(engine.spent().evaluations == 300);
  CHECK(engine.best().score > 50);
  CHECK(engine.spent().confirmations > 0);
  for (std::size_t i = 0; i < events.size(); ++i) REQUIRE(events[i].sequence == i + 1);
  // Every champion was confirmed before it was crowned, and figures come from the confirmation.
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (const auto* crowned = std::get_if<champion_crowned>(&events[i].payload)) {
      const auto* told = std::get_if<evaluation_told>(&events[i - 1].payload);
      REQUIRE(told);
      CHECK(told->wanted == evaluation_stage::confirmed);
      CHECK(told->candidate == crowned->candidate);
      CHECK(told->result->speedup == crowned->speedup);
    }
  }
  // Lineage is a DAG: parents are older.
  for (candidate_id id = 0; id < engine.graph().size(); ++id) {
    for (const candidate_id parent : engine.graph().parents(id)) CHECK(parent < id);
  }
}

TEST_CASE("contenders that wait cost fewer confirmations, and the best is confirmed all the same") {
  const auto run = [](int after) {
    std::vector<event> events;
    search engine(toy::parts({.evaluations = 300}, toy::recorder{&events}),
                  {.seed = 3, .confirm = {.after = after}});
    engine.add_seed(toy::program_of(500), 0);
    double now = 0;
    run_to_end(engine, toy::hill{}, [&now] { return now += 0.001; });
    CHECK(engine.best().score > 95);
    return engine.spent().confirmations;
  };
  const auto at_once = run(0);
  const auto patient = run(8);
  CAPTURE(at_once);
  CAPTURE(patient);
  CHECK(patient >= 2);
  CHECK(3 * patient < at_once);
}

TEST_CASE("a contender does not wait while the only work that is out is a model's") {
  for (const bool model : {true, false}) {
    CAPTURE(model);
    struct slow {
      bool model;
      std::string name() const { return "slow"; }
      std::size_t concurrency() const { return 1; }
      bool replayable() const { return !model; }
      variation_result vary(const variation_request&, rng&) { return no_proposal{"not called here"}; }
    };
    std::vector<event> events;
    auto made = toy::parts({.evaluations = 300}, toy::recorder{&events});
    made.operators = {slow{model}};
    search engine(std::move(made), {.seed = 1, .confirm = {.after = 8}});
    engine.add_seed(toy::program_of(500), 0);
    const auto evaluate = [&](evaluation_stage wanted) {
      auto next = engine.ask({.vary = false, .evaluate = true}, 0);
      REQUIRE(std::holds_alternative<evaluation_job>(next));
      const auto& asked = std::get<evaluation_job>(next);
      REQUIRE(asked.request.wanted == wanted);
      engine.tell(asked.id, toy::hill{}.evaluate(asked.request), 0);
    };
    evaluate(evaluation_stage::timed_full);
    evaluate(evaluation_stage::confirmed);
    auto asked = engine.ask({.vary = true, .evaluate = true}, 0);
    engine.tell(std::get<variation_job>(asked).id, proposal{toy::program_of(900), "better"}, {}, "", 0);
    evaluate(evaluation_stage::timed_full);
    asked = engine.ask({.vary = true, .evaluate = true}, 0);
    REQUIRE(std::holds_alternative<variation_job>(asked));
    const auto next = engine.ask({.vary = false, .evaluate = true}, 0);
    CHECK(std::holds_alternative<evaluation_job>(next) == model);
  }
}

TEST_CASE("without proposals ahead a turn begins on the newest result, once that is known and confirmed") {
  struct slow {
    std::string name() const { return "slow"; }
    std::size_t concurrency() const { return 4; }
    bool replayable() const { return false; }
    variation_result vary(const variation_request&, rng&) { return no_proposal{"not called here"}; }
  };
  struct best_only {
    selection select(const population_view& view, rng&) { return {.parents = {view.nth_best(0)}}; }
  };
  auto made = toy::parts({.evaluations = 300}, {});
  made.select = best_only{};
  made.operators = {slow{}};
  search engine(std::move(made), {.seed = 1, .proposals_ahead = 0, .confirm = {.after = 8}});
  engine.add_seed(toy::program_of(500), 0);
  const auto waits = [&] {
    return std::holds_alternative<wait_job>(engine.ask({.vary = true, .evaluate = false}, 0));
  };
  const auto evaluate = [&](evaluation_stage wanted) {
    CHECK(waits());
    auto next = engine.ask({}, 0);
    REQUIRE(std::holds_alternative<evaluation_job>(next));
    const auto& asked = std::get<evaluation_job>(next);
    REQUIRE(asked.request.wanted == wanted);
    CHECK(waits());
    engine.tell(asked.id, toy::hill{}.evaluate(asked.request), 0);
  };
  const auto begin_turn = [&](int parent) {
    auto asked = engine.ask({}, 0);
    REQUIRE(std::holds_alternative<variation_job>(asked));
    CHECK(toy::number_in(*std::get<variation_job>(asked).request.parents.front()->program) == parent);
    return std::get<variation_job>(asked).id;
  };
  evaluate(evaluation_stage::timed_full);
  evaluate(evaluation_stage::confirmed);
  const ticket first = begin_turn(500);
  const ticket second = begin_turn(500);  // turns may run side by side
  engine.tell(first, proposal{toy::program_of(900), "better"}, {}, "", 0);
  evaluate(evaluation_stage::timed_full);
  evaluate(evaluation_stage::confirmed);
  begin_turn(900);
  engine.tell(second, proposal{toy::program_of(700), "worse"}, {}, "", 0);
  evaluate(
      evaluation_stage::timed_full);  // no candidate for the champion, so that nothing is to be confirmed
  begin_turn(900);
}

TEST_CASE("a search without proposals ahead ends by its rule") {
  search engine(toy::parts({.evaluations = 200}, {}), {.seed = 3, .proposals_ahead = 0});
  engine.add_seed(toy::program_of(500), 0);
  run_to_end(engine, toy::hill{}, [] { return 0.0; });
  CHECK(engine.stopped().value_or("") == "200 evaluations");
  CHECK(engine.best().score > 15);
}

TEST_CASE("an operator that had nothing to do with the parents wakes when a valid candidate comes") {
  struct named {
    std::string label;
    std::string name() const { return label; }
    bool replayable() const { return false; }
    variation_result vary(const variation_request&, rng&) { return no_proposal{"not called here"}; }
  };
  auto made = toy::parts({.evaluations = 300}, {});
  made.operators = {named{"tuner"}, named{"writer"}};
  search engine(std::move(made), {.seed = 1, .proposals_ahead = 4, .patience = 5});
  engine.add_seed(toy::program_of(500), 0);
  const auto turn = [&] {
    auto asked = engine.ask({.vary = true, .evaluate = false}, 0);
    REQUIRE(std::holds_alternative<variation_job>(asked));
    return std::get<variation_job>(asked);
  };
  const auto tuner_rests = [&] {
    for (int i = 0; i < 5; ++i) {
      const auto asked = turn();
      REQUIRE(asked.op == 0);
      engine.tell(asked.id, no_proposal{"the parent has no tunables"}, {}, "", 0);
    }
  };
  const auto evaluate = [&] {
    auto next = engine.ask({.vary = false, .evaluate = true}, 0);
    REQUIRE(std::holds_alternative<evaluation_job>(next));
    const auto& asked = std::get<evaluation_job>(next);
    engine.tell(asked.id, toy::hill{}.evaluate(asked.request), 0);
  };
  evaluate();
  tuner_rests();
  const auto written = turn();
  REQUIRE(written.op == 1);
  engine.tell(written.id, proposal{toy::program_of(900), "has tunables"}, {}, "", 0);
  tuner_rests();  // the new candidate is no parent yet
  evaluate();     // the seed's confirmation, or the candidate
  evaluate();
  CHECK(turn().op == 0);
}

TEST_CASE("the same seed gives the same run, another seed another") {
  const auto run = [](std::uint64_t seed) {
    std::vector<event> events;
    search engine(toy::parts({.evaluations = 100}, toy::recorder{&events}), {.seed = seed});
    engine.add_seed(toy::program_of(500), 0);
    double now = 0;
    run_to_end(engine, toy::hill{}, [&now] { return now += 0.001; });
    std::string trace;
    for (const event& e : events) {
      if (const auto* told = std::get_if<variation_told>(&e.payload))
        trace += to_string(told->program.value_or(content_id{}));
    }
    return trace;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("a known program is an event and is not evaluated again") {
  std::vector<event> events;
  auto made = toy::parts({.evaluations = 60}, toy::recorder{&events});
  made.operators = {toy::step{.reach = 3}};
  search engine(std::move(made), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  engine.add_seed(toy::program_of(500), 0);
  CHECK(engine.graph().size() == 1);
  double now = 0;
  run_to_end(engine, toy::hill{}, [&now] { return now += 0.001; });
  CHECK(engine.spent().duplicates > 0);
  std::vector<int> asked(engine.graph().size(), 0);
  for (const event& e : events) {
    if (const auto* a = std::get_if<evaluation_asked>(&e.payload);
        a && a->wanted != evaluation_stage::confirmed)
      ++asked[a->candidate];
  }
  CHECK(std::all_of(asked.begin(), asked.end(), [](int n) { return n <= 1; }));
}

TEST_CASE("a turn may tell further programs, which are candidates with its parents") {
  struct told_by_hand {
    std::vector<observation>* seen = nullptr;
    std::string name() const { return "by hand"; }
    variation_result vary(const variation_request&, rng&) { return no_proposal{"not called here"}; }
    void observe(const observation& one) { seen->push_back(one); }
  };
  std::vector<event> events;
  std::vector<observation> seen;
  auto made = toy::parts({.evaluations = 300}, toy::recorder{&events});
  made.operators = {told_by_hand{&seen}};
  search engine(std::move(made), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  const auto evaluate_all = [&] {
    for (auto next = engine.ask({.vary = false, .evaluate = true}, 0);
         std::holds_alternative<evaluation_job>(next);
         next = engine.ask({.vary = false, .evaluate = true}, 0)) {
      const auto& asked = std::get<evaluation_job>(next);
      engine.tell(asked.id, toy::hill{}.evaluate(asked.request), 0);
    }
  };
  evaluate_all();
  const auto asked = std::get<variation_job>(engine.ask({.vary = true, .evaluate = false}, 0));
  engine.tell_further(asked.id, {toy::program_of(510), "second", 1}, 0);
  engine.tell_further(asked.id, {toy::program_of(520), "again", 1}, 0);  // this sample was told
  engine.tell_further(asked.id, {toy::program_of(500), "known", 2}, 0);
  engine.tell(asked.id, proposal{toy::program_of(530), "first"}, {.wall_s = 2}, "notes", 0);
  CHECK_THROWS_AS(engine.tell_further(asked.id, {toy::program_of(540), "late", 3}, 0), error);
  std::vector<variation_told> told;
  for (const event& e : events) {
    if (const auto* one = std::get_if<variation_told>(&e.payload)) told.push_back(*one);
  }
  REQUIRE(told.size() == 3);
  CHECK(told[0].further);
  CHECK(told[0].sample == 1);
  CHECK(told[0].candidate == 1);
  CHECK(told[0].cost.wall_s == 0);
  CHECK(told[1].duplicate);
  CHECK(told[1].candidate == 0);
  CHECK(!told[2].further);
  CHECK(told[2].candidate == 2);
  CHECK(told[2].cost.wall_s == 2);
  CHECK(engine.spent().proposals == 3);
  CHECK(engine.spent().duplicates == 1);
  for (const candidate_id id : {1U, 2U}) CHECK(engine.graph().parents(id) == std::vector<candidate_id>{0});
  evaluate_all();
  REQUIRE(seen.size() >= 2);  // the turn is learnt from once, by the program that it returned
  for (const auto& one : seen) CHECK((one.job == asked.id) == (one.candidate == 2 && !one.confirmed));
}

TEST_CASE("results may be told in any order; unknown tickets are refused") {
  search engine(toy::parts({.evaluations = 1000}, {}), {.seed = 1, .proposals_ahead = 8});
  engine.add_seed(toy::program_of(500), 0);
  engine.add_seed(toy::program_of(600), 0);
  std::vector<evaluation_job> out;
  for (int i = 0; i < 2; ++i) {
    job next = engine.ask({.vary = true, .evaluate = true}, 0);
    REQUIRE(std::holds_alternative<evaluation_job>(next));
    out.push_back(std::get<evaluation_job>(next));
  }
  CHECK(std::holds_alternative<wait_job>(engine.ask({}, 0)));  // nothing to vary before the seeds are known
  toy::hill fitness;
  engine.tell(out[1].id, fitness.evaluate(out[1].request), 1);
  engine.tell(out[0].id, fitness.evaluate(out[0].request), 1);
  CHECK_THROWS_AS(engine.tell(out[0].id, fitness.evaluate(out[0].request), 1), error);
  CHECK_THROWS_AS(engine.tell(999, no_proposal{}, {}, "", 1), error);
  CHECK(engine.population().ranked() == 2);
}

TEST_CASE("a search without a valid seed, or with nothing left to propose, ends and says why") {
  search none(toy::parts({.evaluations = 10}, {}), {});
  double now = 0;
  const auto clock = [&now] { return now += 0.001; };
  run_to_end(none, toy::hill{}, clock);
  CHECK(none.stopped() == "no seeds");

  struct tuner : toy::step {
    bool repairs() const { return false; }
  };
  auto unrepairable = toy::parts({.evaluations = 10}, {});
  unrepairable.operators = {tuner{}};
  search invalid(std::move(unrepairable), {});
  invalid.add_seed(toy::program_of(-4), 0);
  run_to_end(invalid, toy::hill{}, clock);
  CHECK(invalid.stopped() == "no seed is valid");

  auto helpless = toy::parts({.evaluations = 10}, {});
  helpless.operators = {toy::speechless{}};
  search unrepaired(std::move(helpless), {});
  unrepaired.add_seed(toy::program_of(-4), 0);
  run_to_end(unrepaired, toy::hill{}, clock);
  CHECK(unrepaired.stopped() == "no seed is valid, and the operators that repair are exhausted");

  auto parts = toy::parts({.evaluations = 10}, {});
  parts.operators = {toy::speechless{}};
  search mute(std::move(parts), {});
  mute.add_seed(toy::program_of(500), 0);
  run_to_end(mute, toy::hill{}, clock);
  CHECK(mute.stopped() == "operators exhausted");
  CHECK(mute.best().id == 0);
}

TEST_CASE("after a stop would-be champions are confirmed, until three in a row are none") {
  search engine(toy::parts({.evaluations = 1000}, {}), {.seed = 4, .proposals_ahead = 40});
  engine.add_seed(toy::program_of(9000), 0);
  // First looks are twice too good, so that each candidate seems to beat the confirmed champion.
  const auto first_look = [](const evaluation_job& asked) {
    return toy::valued(2 * toy::hill{}.evaluate(asked.request).score, asked.request.wanted);
  };
  std::vector<evaluation_job> out;
  toy::step operate;
  while (engine.population().size() < 30 || out.size() < 20) {
    job next = engine.ask({}, 0);
    if (auto* turn = std::get_if<variation_job>(&next)) {
      engine.tell(turn->id, operate.vary(turn->request, turn->random), {}, "", 0);
    } else if (auto* asked = std::get_if<evaluation_job>(&next)) {
      if (asked->request.wanted == evaluation_stage::confirmed) {
        engine.tell(asked->id, toy::hill{}.evaluate(asked->request), 0);
      } else if (asked->candidate == 0) {
        engine.tell(asked->id, first_look(*asked), 0);
      } else {
        out.push_back(*asked);
      }
    }
  }
  for (const auto& asked : out) engine.tell(asked.id, first_look(asked), 0);
  engine.stop("enough", 0);
  int futile = 0;
  for (job next = engine.ask({}, 0); !std::holds_alternative<stop_job>(next); next = engine.ask({}, 0)) {
    const auto& asked = std::get<evaluation_job>(next);
    const auto champion = engine.best().id;
    engine.tell(asked.id, toy::hill{}.evaluate(asked.request), 0);
    futile = engine.best().id == champion ? futile + 1 : 0;
  }
  CHECK(futile == 3);
}

TEST_CASE(
    "what the selector prefers may offer nothing to vary: any candidate is varied before the search gives "
    "up") {
  struct only_the_best {
    selection select(const population_view& view, rng&) { return {.parents = {view.nth_best(0)}}; }
  };
  struct step_from_odd {
    std::string name() const { return "step_from_odd"; }
    variation_result vary(const variation_request& request, rng& random) {
      const int x = toy::number_in(*request.parents.front()->program);
      if (x % 2 == 0) return no_proposal{"even"};
      return proposal{toy::program_of(x + 2 * static_cast<int>(random.integer(1, 400))), "step"};
    }
  };
  auto parts = toy::parts({.evaluations = 60}, {});
  parts.select = only_the_best{};
  parts.operators = {step_from_odd{}};
  search engine(std::move(parts), {.seed = 2});
  engine.add_seed(toy::program_of(601), 0);
  engine.add_seed(toy::program_of(700), 0);  // better, and nothing can be made of it
  double now = 0;
  run_to_end(engine, toy::hill{}, [&now] { return now += 0.001; });
  CHECK(engine.stopped() == "60 evaluations");
  CHECK(engine.best().score > 10);
}

TEST_CASE("a candidate that fails its confirmation leaves the archive and never becomes champion") {
  search engine(toy::parts({.evaluations = 200}, {}), {.seed = 5});
  engine.add_seed(toy::program_of(501), 0);
  double now = 0;
  run_to_end(engine, toy::flattering_hill{}, [&now] { return now += 0.001; });
  REQUIRE(engine.best().id != no_candidate);
  const auto best = engine.snapshot(engine.best().id);
  CHECK(toy::number_in(*best.program) % 2 == 1);  // even ones look twice as good and crash when confirmed
  for (std::size_t i = 0; i < engine.archive().size(); ++i) {
    CHECK(engine.population().row(engine.archive().at(i).id).outcome == outcome::valid);
  }
}

TEST_CASE("a proposal without files is no proposal: it is recorded with the reason and joins nothing") {
  struct empty_handed {
    std::string name() const { return "empty_handed"; }
    variation_result vary(const variation_request&, rng&) { return proposal{program{}, "all gone"}; }
  };
  std::vector<event> events;
  auto made = toy::parts({.evaluations = 10}, toy::recorder{&events});
  made.operators = {empty_handed{}};
  search engine(std::move(made), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  double now = 0;
  run_to_end(engine, toy::hill{}, [&now] { return now += 0.001; });
  CHECK(engine.stopped() == "operators exhausted");
  CHECK(engine.graph().size() == 1);
  CHECK(engine.spent().proposals == 0);
  CHECK(engine.spent().no_proposals > 0);
  std::size_t told = 0;
  for (const event& e : events) {
    const auto* turn = std::get_if<variation_told>(&e.payload);
    if (turn == nullptr) continue;
    ++told;
    CHECK(!turn->program);
    CHECK(turn->summary == "the operator proposed a program without files");
  }
  CHECK(told == engine.spent().no_proposals);
}

TEST_CASE("copies of the baseline are never confirmed, however good they look, and each is recorded") {
  struct copycat {
    std::string name() const { return "copycat"; }
    variation_result vary(const variation_request& request, rng&) {
      program copy = toy::program_of(9000);
      copy.files.front().text += std::string(request.job, ' ');  // another program, by its id
      return proposal{std::move(copy), "copy"};
    }
  };
  std::vector<event> events;
  auto parts = toy::parts({.evaluations = 12}, toy::recorder{&events});
  parts.operators = {copycat{}};
  task subject;
  subject.baselines = {{.name = "fast", .source = toy::program_of(9000)}};
  parts.task = std::make_shared<const task>(subject);
  search engine(std::move(parts), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  double now = 0;
  run_to_end(engine, toy::hill{}, [&now] { return now += 0.001; });
  CHECK(engine.best().id == 0);
  CHECK(engine.spent().confirmations == 1);
  CHECK(engine.baseline_duplicate() != no_candidate);
  std::size_t met = 0;
  for (const event& e : events) {
    const auto* one = std::get_if<baseline_met>(&e.payload);
    if (one == nullptr) continue;
    ++met;
    CHECK(one->candidate != 0);
    CHECK(one->baseline == "fast");
  }
  CHECK(met == 11);
}
