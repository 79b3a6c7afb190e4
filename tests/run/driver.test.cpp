// timed
// Threads that vary and evaluate, the record of what they did, and failures of operators and of the machine.
#include "src/run/driver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/run/replay.hpp"
#include "tests/run/driven.hpp"
#include "tests/support/toy_search.hpp"

using namespace kevo;
using namespace driven;
using namespace std::chrono_literals;

TEST_CASE("threads evaluate in parallel, and the record of what they did replays bit for bit") {
  std::vector<event> events;
  const candidate_store store = memory_store();
  auto made = toy::parts({.evaluations = 150}, toy::recorder{&events});
  made.store = store;
  search engine(std::move(made), {.seed = 11});
  engine.add_seed(toy::program_of(500), 0);
  const slow_hill fitness;
  drive(engine, fitness, {}, {.variations = 2, .evaluations = 3, .clock_s = wall_clock()});
  CHECK(engine.stopped().value_or("") == "150 evaluations");
  CHECK(fitness.most->load() > 1);
  CHECK(engine.best().score > 20);

  const auto source = [&](const std::function<void(const event&)>& each) {
    for (const event& e : events) each(e);
  };
  search again(toy::parts({.evaluations = 150}, {}), {.seed = 11});
  const replay_report report = replay(again, source, store.program_of);
  CHECK_MESSAGE(!report.divergence, report.divergence.value_or(""));
  CHECK(report.events == events.size());
  CHECK(again.best().id == engine.best().id);
  CHECK(again.best().speedup == engine.best().speedup);
  REQUIRE(again.archive().size() == engine.archive().size());
  for (std::size_t i = 0; i < again.archive().size(); ++i)
    CHECK(again.archive().at(i) == engine.archive().at(i));

  // A record that was tampered with is found out, at the place.
  search other(toy::parts({.evaluations = 150}, {}), {.seed = 12});
  const replay_report diverged = replay(other, source, store.program_of);
  REQUIRE(diverged.divergence);
  CHECK(diverged.divergence->find("event ") == 0);
}

TEST_CASE("a run that was cut anywhere goes on from its record and ends as a whole run would be recorded") {
  std::vector<event> events;
  const candidate_store store = memory_store();
  auto made = toy::parts({.evaluations = 60}, toy::recorder{&events});
  made.store = store;
  search engine(std::move(made), {.seed = 4});
  engine.add_seed(toy::program_of(500), 0);
  drive(engine, slow_hill{}, {}, {.variations = 2, .evaluations = 2, .clock_s = wall_clock()});

  for (const std::size_t cut :
       {std::size_t{1}, std::size_t{2}, std::size_t{7}, events.size() / 2, events.size() - 1}) {
    std::vector<event> record(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(cut));
    auto parts = toy::parts({.evaluations = 60}, {});
    parts.store = store;
    search resumed(std::move(parts), {.seed = 4});
    replay_report report = replay(resumed,
                                  [&](const std::function<void(const event&)>& each) {
                                    for (const event& e : record) each(e);
                                  },
                                  store.program_of, {.recompute_variations = false});
    REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
    // A cut may fall between an end and the champion that it makes: whoever goes on records what follows.
    record.insert(record.end(), report.unrecorded.begin(), report.unrecorded.end());
    resumed.attach(toy::recorder{&record});
    const auto clock = wall_clock();
    const double offset = report.last_time_s;
    drive(resumed, slow_hill{}, std::move(report.unfinished),
          {.variations = 2, .evaluations = 2, .clock_s = [=] { return offset + clock(); }});
    CHECK(resumed.stopped().value_or("") == "60 evaluations");
    for (std::size_t i = 0; i < record.size(); ++i) REQUIRE(record[i].sequence == i + 1);
    // What had not begun when the rule stopped the run is left to a resume.
    search again(toy::parts({.evaluations = 60}, {}), {.seed = 4});
    const replay_report whole = replay(again, source_of(record), store.program_of);
    CHECK_MESSAGE(!whole.divergence, whole.divergence.value_or(""));
    CHECK(whole.unfinished.size() == resumed.outstanding());
  }
}

TEST_CASE(
    "a run whose selector measures again ends, and replays wherever it is cut, however busy the evaluator "
    "was") {
  struct measure_again_below_3 {
    selection select(const population_view& view, rng& random) {
      const candidate_id one = view.nth_best(random.below(std::min<std::size_t>(view.ranked(), 3)));
      return {.parents = {one}, .reevaluate = view.row(one).evaluations < 3};
    }
  };
  struct paid_step : toy::step {
    bool replayable() const { return false; }
  };
  const auto parts = [](toy::recorder listen, const candidate_store& store) {
    auto made = toy::parts({.evaluations = 40}, listen);
    made.select = measure_again_below_3{};
    made.operators = {toy::step{}, paid_step{}};
    made.store = store;
    return made;
  };
  std::vector<event> events;
  const candidate_store store = memory_store();
  search engine(parts({&events}, store), {.seed = 7});
  for (const int number : {500, 700, 600}) engine.add_seed(toy::program_of(number), 0);
  drive(engine, slow_hill{}, {}, {.variations = 4, .evaluations = 1, .clock_s = wall_clock()});
  CHECK(engine.stopped().value_or("") == "40 evaluations");

  for (std::size_t cut = 1; cut <= events.size(); ++cut) {
    const std::vector<event> record(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(cut));
    search again(parts({}, store), {.seed = 7});
    const replay_report report = replay(again, source_of(record), store.program_of);
    REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
    REQUIRE(report.events == cut);
    REQUIRE(report.unfinished.size() == again.outstanding());  // what was held, too
    if (cut == events.size()) {
      CHECK(again.best().id == engine.best().id);
      CHECK(again.outstanding() ==
            engine.outstanding());  // what had not begun at the end is left to a resume
    }
  }
}

TEST_CASE(
    "a fault of the machine ends the run with what was finished told; an operator's own failure costs one "
    "turn") {
  struct faulty {
    evaluation evaluate(const evaluation_request& request) {
      if (toy::number_in(*request.program) != 500) throw error(error_code::environment, "the disk is gone");
      return toy::hill{}.evaluate(request);
    }
  };
  search engine(toy::parts({.evaluations = 100}, {}), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  CHECK_THROWS_WITH_AS(drive(engine, faulty{}, {}, {.clock_s = wall_clock()}), "the disk is gone", error);
  CHECK(engine.spent().evaluations >= 1);

  struct clumsy {
    std::string name() const { return "clumsy"; }
    variation_result vary(const variation_request&, rng&) { throw std::runtime_error("oops"); }
  };
  auto parts = toy::parts({.evaluations = 100}, {});
  parts.operators = {clumsy{}};
  search patient(std::move(parts), {.seed = 1});
  patient.add_seed(toy::program_of(500), 0);
  drive(patient, toy::hill{}, {}, {.clock_s = wall_clock()});
  CHECK(patient.stopped() == "operators exhausted");
  CHECK(patient.spent().no_proposals > 0);
}

TEST_CASE("an operator that throws anything or proposes an empty program loses its turn alone, and replays") {
  struct clumsy_step {
    std::string name() const { return "clumsy_step"; }
    variation_result vary(const variation_request& request, rng& random) {
      const auto luck = random.below(4);
      if (luck == 0) throw 42;
      if (luck == 1) throw std::runtime_error("dropped");
      if (luck == 2) return proposal{program{}, "nothing"};
      return toy::step{}.vary(request, random);
    }
  };
  std::vector<event> events;
  const candidate_store store = memory_store();
  auto made = toy::parts({.evaluations = 30}, toy::recorder{&events});
  made.operators = {clumsy_step{}};
  made.store = store;
  search engine(std::move(made), {.seed = 8});
  engine.add_seed(toy::program_of(500), 0);
  drive(engine, toy::hill{}, {}, {.variations = 1, .evaluations = 1, .clock_s = wall_clock()});
  CHECK(engine.stopped().value_or("") == "30 evaluations");
  const auto turns_with = [&](const std::string& reason) {
    return std::count_if(events.begin(), events.end(), [&](const event& e) {
      const auto* told = std::get_if<variation_told>(&e.payload);
      return told != nullptr && !told->program && told->summary == reason;
    });
  };
  CHECK(turns_with("the operator failed: it threw an exception that is not a std::exception") > 0);
  CHECK(turns_with("the operator failed: dropped") > 0);
  CHECK(turns_with("the operator proposed a program without files") > 0);

  for (const bool recompute : {true, false}) {
    auto parts = toy::parts({.evaluations = 30}, {});
    parts.operators = {clumsy_step{}};
    search again(std::move(parts), {.seed = 8});
    const replay_report report =
        replay(again, source_of(events), store.program_of, {.recompute_variations = recompute});
    CHECK_MESSAGE(!report.divergence, report.divergence.value_or(""));
    CHECK(report.events == events.size());
  }
}

TEST_CASE(
    "what a turn has measured of its proposal is not measured again, unless it was the best of several, and "
    "the record replays") {
  struct counting {
    std::shared_ptr<std::atomic<int>> measured = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<int>> afresh = std::make_shared<std::atomic<int>>(0);
    evaluation evaluate(const evaluation_request& request) {
      if (request.wanted == evaluation_stage::timed_full) ++*measured;
      if (request.wanted == evaluation_stage::timed_full && request.fresh) ++*afresh;
      return toy::hill{}.evaluate(request);
    }
  };
  struct drafter {
    bool several = false;
    std::string name() const { return "drafter"; }
    bool replayable() const { return false; }
    variation_result vary(const variation_request& request, rng&) const {
      const int x = toy::number_in(*request.parents.front()->program);
      request.evaluate(toy::program_of(x + 7));
      if (several) request.evaluate(toy::program_of(x + 5));
      request.evaluate(toy::program_of(x + 3), evaluation_stage::checked);
      return proposal{toy::program_of(x + 7), "timed"};
    }
  };
  bool several = false;
  SUBCASE("one draft") {}
  SUBCASE("the better of two") {
    several = true;
  }
  std::vector<event> events;
  const candidate_store store = memory_store();
  const auto parts_of = [&](toy::recorder listen) {
    auto made = toy::parts({.evaluations = 40}, listen);
    made.operators = {drafter{several}};
    return made;
  };
  auto made = parts_of(toy::recorder{&events});
  made.store = store;
  search engine(std::move(made), {.seed = 5, .proposals_ahead = 0});
  engine.add_seed(toy::program_of(500), 0);
  const counting fitness;
  drive(engine, fitness, {}, {.variations = 1, .evaluations = 1, .clock_s = wall_clock()});
  int drafts = 0;
  int told = 0;
  for (const event& e : events) {
    const auto* draft = std::get_if<draft_evaluated>(&e.payload);
    drafts += draft != nullptr && draft->result->stage >= evaluation_stage::timed_full ? 1 : 0;
    const auto* result = std::get_if<evaluation_told>(&e.payload);
    if (result == nullptr || result->wanted != evaluation_stage::timed_full) continue;
    ++told;
    // The draft's evaluation has paid for it.
    CHECK((several || result->candidate == 0 || result->result->cost.wall_s == 0));
  }
  CHECK(told > 5);
  CHECK(*fitness.measured == drafts + 1 + (several ? told - 1 : 0));  // the drafts and the seed
  CHECK(*fitness.afresh == (several ? told - 1 : 0));

  search again(parts_of({}), {.seed = 5, .proposals_ahead = 0});
  const replay_report report = replay(again, source_of(events), store.program_of);
  CHECK_MESSAGE(!report.divergence, report.divergence.value_or(""));
  CHECK(report.events == events.size());
}

TEST_CASE(
    "while a model writes, programs are tuned that have settings left, and the evaluator hardly rests") {
  using clock = std::chrono::steady_clock;
  struct span_list {
    std::mutex guard;
    std::vector<std::pair<clock::time_point, clock::time_point>> all;
  };
  struct busy_hill {
    std::shared_ptr<span_list> spans = std::make_shared<span_list>();
    evaluation evaluate(const evaluation_request& request) {
      const auto begin = clock::now();
      std::this_thread::sleep_for(20ms);
      const std::scoped_lock lock(spans->guard);
      spans->all.emplace_back(begin, clock::now());
      return toy::hill{}.evaluate(request);
    }
  };
  struct writer {
    std::shared_ptr<span_list> spans = std::make_shared<span_list>();
    std::string name() const { return "writer"; }
    bool replayable() const { return false; }
    variation_result vary(const variation_request&, rng&) {
      const auto begin = clock::now();
      std::this_thread::sleep_for(begin_of_second() ? 800ms : 50ms);
      const std::scoped_lock lock(spans->guard);
      spans->all.emplace_back(begin, clock::now());
      return proposal{toy::program_of(static_cast<int>(1000 * spans->all.size())), "has tunables"};
    }
    bool begin_of_second() const {
      const std::scoped_lock lock(spans->guard);
      return !spans->all.empty();
    }
  };
  struct tuner {
    std::string name() const { return "tuner"; }
    variation_result vary(const variation_request& request, rng& random) {
      const int x = toy::number_in(*request.parents.front()->program);
      if (x < 1000) return no_proposal{"the parent has no tunables"};
      return proposal{toy::program_of(1001 + static_cast<int>(random.below(5000))), "another setting"};
    }
  };
  struct best_only {
    selection select(const population_view& view, rng&) { return {.parents = {view.nth_best(0)}}; }
  };
  struct after_two {
    std::shared_ptr<span_list> spans;
    std::optional<std::string> stop(const progress&) {
      const std::scoped_lock lock(spans->guard);
      return spans->all.size() < 2 ? std::nullopt : std::optional<std::string>("two replies");
    }
  };
  const writer model;
  const busy_hill fitness;
  auto made = toy::parts({}, {});
  made.select = best_only{};
  made.operators = {tuner{}, model};
  made.stop = after_two{model.spans};
  search engine(std::move(made), {.seed = 1, .proposals_ahead = 2});
  engine.add_seed(toy::program_of(500), 0);
  drive(engine, fitness, {}, {.variations = 2, .evaluations = 1, .clock_s = wall_clock()});
  REQUIRE(model.spans->all.size() >= 2);
  const auto [begin, end] = model.spans->all[1];
  clock::duration busy{};
  for (const auto& [from, to] : fitness.spans->all)
    busy += std::max(clock::duration{}, std::min(to, end) - std::max(from, begin));
  CHECK(std::chrono::duration<double>(busy) >= 0.9 * std::chrono::duration<double>(end - begin));
}
