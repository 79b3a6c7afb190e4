// timed
// What the driver does when a stop rule ends a run while work is out.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/stop/evaluations.hpp>

#include "src/run/driver.hpp"
#include "src/run/replay.hpp"
#include "tests/run/driven.hpp"
#include "tests/support/toy_search.hpp"

using namespace kevo;
using namespace driven;
using namespace std::chrono_literals;

TEST_CASE("a stop rule leaves what queues for the device to a resume, and still confirms the best") {
  std::vector<event> events;
  const candidate_store store = memory_store();
  auto made = toy::parts({.evaluations = 20}, toy::recorder{&events});
  made.store = store;
  search engine(std::move(made), {.seed = 1, .proposals_ahead = 40});
  engine.add_seed(toy::program_of(500), 0);
  const queue_at_device fitness;
  drive(engine, fitness, {}, {.variations = 4, .evaluations = 16, .clock_s = wall_clock()});
  CHECK(engine.stopped().value_or("") == "20 evaluations");
  CHECK(engine.spent().evaluations + engine.spent().confirmations ==
        static_cast<unsigned>(fitness.measured->load()));
  // A coordinator that is late costs a few, not the 15 that wait.
  CHECK(engine.spent().evaluations < 30);
  CHECK(engine.outstanding() > 0);
  double best = 0;
  for (const event& e : events) {
    if (const auto* told = std::get_if<evaluation_told>(&e.payload))
      best = std::max(best, told->result->score);
  }
  CHECK(engine.best().score == best);

  auto parts = toy::parts({.evaluations = 20}, {});
  parts.store = store;
  search resumed(std::move(parts), {.seed = 1, .proposals_ahead = 40});
  replay_report report =
      replay(resumed, source_of(events), store.program_of, {.recompute_variations = false});
  REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
  CHECK(report.unfinished.size() == engine.outstanding());
  resumed.attach(toy::recorder{&events});
  resumed.resume(toy::stop_after{60}, "resumed", report.last_time_s);
  const auto clock = wall_clock();
  const double offset = report.last_time_s;
  const std::size_t left = report.unfinished.size();
  drive(resumed, fitness, std::move(report.unfinished),
        {.variations = 4, .evaluations = 16, .clock_s = [=] { return offset + clock(); }});
  CHECK(resumed.stopped().value_or("") == "60 evaluations");
  CHECK(resumed.spent().evaluations >= 60);
  CHECK(resumed.spent().evaluations >= engine.spent().evaluations + left);

  search again(toy::parts({.evaluations = 20}, {}), {.seed = 1, .proposals_ahead = 40});
  const replay_report whole = replay(again, source_of(events), store.program_of);
  CHECK_MESSAGE(!whole.divergence, whole.divergence.value_or(""));
  CHECK(whole.events == events.size());
  CHECK(again.best().id == resumed.best().id);
}

namespace {

using counter = std::shared_ptr<std::atomic<int>>;

/// Stops when this much time has passed and so many jobs have begun, however slow the machine is.
struct stop_at {
  double seconds = 0.2;
  counter begun{};
  int jobs = 0;
  std::optional<std::string> stop(const progress& now) const {
    const bool early = now.ledger.elapsed_s < seconds || (begun && begun->load() < jobs);
    return early ? std::nullopt : std::optional<std::string>("time");
  }
};

/// Takes `seconds` for an evaluation, `to_confirm` for a confirmation, and ends at once when it is told to.
struct long_hill {
  double seconds = 30;
  double to_confirm = 0;
  counter cancelled = std::make_shared<std::atomic<int>>(0);
  counter begun = std::make_shared<std::atomic<int>>(0);
  evaluation evaluate(const evaluation_request& request) {
    const double most = request.wanted == evaluation_stage::confirmed ? to_confirm : seconds;
    const auto clock = wall_clock();
    *begun += toy::number_in(*request.program) != 500 ? 1 : 0;
    // The seed is quick.
    while (toy::number_in(*request.program) != 500 && clock() < most) {
      if (request.stop.stop_requested()) {
        ++*cancelled;
        throw error(error_code::interrupted, "cancelled");
      }
      std::this_thread::sleep_for(1ms);
    }
    return toy::hill{}.evaluate(request);
  }
};

/// Waits as for the reply of a slow server, and ends at once when it is told to.
struct asks_slow_server {
  bool again = false;
  counter begun = std::make_shared<std::atomic<int>>(0);
  std::string name() const { return "asks_slow_server"; }
  bool replayable() const { return again; }
  std::size_t concurrency() const { return 8; }
  variation_result vary(const variation_request& request, rng& random) {
    const auto clock = wall_clock();
    ++*begun;
    while (clock() < 30) {
      if (request.stop.stop_requested()) return no_proposal{"cancelled"};
      std::this_thread::sleep_for(1ms);
    }
    return toy::step{}.vary(request, random);
  }
};

/// A run of its events, driven to its end; how long that took [s].
struct timed_run {
  std::vector<event> events;
  candidate_store store = memory_store();
  std::unique_ptr<search> engine;

  timed_run(search_parts parts, int seeds) {
    parts.store = store;
    parts.sinks = {any_sink(toy::recorder{&events})};
    engine = std::make_unique<search>(std::move(parts), search_settings{.seed = 1, .proposals_ahead = 40});
    for (int i = 0; i < seeds; ++i) engine->add_seed(toy::program_of(500 + i), 0);
  }
  double drive_on(const any_fitness& fitness, driver_settings settings, std::vector<job> unfinished = {}) {
    settings.clock_s = wall_clock();
    const auto clock = wall_clock();
    drive(*engine, fitness, std::move(unfinished), settings);
    return clock();
  }
  /// What a resume would begin with.
  std::size_t left(search_parts parts) const {
    parts.store = store;
    search again(std::move(parts), {.seed = 1, .proposals_ahead = 40});
    const replay_report report =
        replay(again, source_of(events), store.program_of, {.recompute_variations = false});
    CHECK_MESSAGE(!report.divergence, report.divergence.value_or(""));
    CHECK(report.events == events.size());
    return report.unfinished.size();
  }
};

search_parts parts_until(const stop_at& rule, any_variation op = toy::step{}) {
  search_parts made = toy::parts({}, {});
  made.stop = rule;
  made.operators = {std::move(op)};
  return made;
}

}  // namespace

TEST_CASE("a stop by time cancels the evaluations that run, after a short time; a resume has them") {
  const long_hill fitness;
  timed_run run(parts_until({.begun = fitness.begun, .jobs = 3}), 1);
  const double took = run.drive_on(fitness, {.variations = 1, .evaluations = 3, .linger_s = 0.1});
  CHECK(took < 10);  // not 30: 0.2 and 0.1, on a machine that may be busy
  CHECK(run.engine->stopped() == "time");
  CHECK(fitness.cancelled->load() == 3);
  CHECK(run.engine->best().id == 0);  // the seed was measured and confirmed
  CHECK(run.engine->outstanding() == 3);
  CHECK(run.left(parts_until({})) == 3);
}

TEST_CASE("jobs that an earlier process left are not begun after a stop") {
  const long_hill first;
  timed_run run(parts_until({.begun = first.begun, .jobs = 6}), 1);
  run.drive_on(first, {.variations = 1, .evaluations = 6, .linger_s = 0.1});
  REQUIRE(run.engine->outstanding() == 6);
  auto parts = parts_until({});
  parts.store = run.store;
  search resumed(std::move(parts), {.seed = 1, .proposals_ahead = 40});
  replay_report past =
      replay(resumed, source_of(run.events), run.store.program_of, {.recompute_variations = false});
  REQUIRE(past.unfinished.size() == 6);
  const long_hill fitness;
  resumed.resume(stop_at{0.1, fitness.begun, 1}, "resumed", past.last_time_s);
  const auto clock = wall_clock();
  drive(resumed, fitness, std::move(past.unfinished),
        {.variations = 1, .evaluations = 1, .clock_s = wall_clock(), .linger_s = 0.1});
  CHECK(clock() < 10);
  CHECK(fitness.cancelled->load() == 1);  // the other five were never begun
  CHECK(resumed.outstanding() == 6);
}

TEST_CASE("the confirmations after a stop have a time of their own, and what is not confirmed then is left") {
  // The second seed is better, so that it is to be confirmed; that takes longer than there is time.
  long_hill fitness;
  fitness.seconds = 0;
  fitness.to_confirm = 30;
  timed_run run(parts_until({}), 2);
  bool seen = false;
  const double took =
      run.drive_on(fitness, {.variations = 1,
                             .evaluations = 1,
                             .refresh =
                                 [&seen](const search& engine, const driver_load& load) {
                                   seen = seen || (engine.stopped() && load.confirming == 1 && !load.cut_off);
                                 },
                             .linger_s = 0.05,
                             .finish_s = 0.5,
                             .breath_s = 0.01});
  CHECK(took < 10);
  CHECK(seen);  // it was known what is waited for
  CHECK(fitness.cancelled->load() == 1);
  CHECK(run.engine->best().id == no_candidate);
  CHECK(run.engine->outstanding() == 1);
  CHECK(run.left(parts_until({})) == 1);

  // With enough time they are made.
  fitness.to_confirm = 0.05;
  timed_run patient(parts_until({}), 2);
  patient.drive_on(fitness, {.variations = 1, .evaluations = 1, .linger_s = 20});
  CHECK(patient.engine->best().id != no_candidate);
  // An evaluation may have been about to begin when the time was over.
  CHECK(patient.engine->outstanding() <= 1);
}

TEST_CASE("turns of a slow server are waited for as long as the run may take to finish, others shortly") {
  for (const bool again : {false, true}) {
    CAPTURE(again);
    const asks_slow_server op{again};
    timed_run run(parts_until({.begun = op.begun, .jobs = 2}, op), 1);
    // What can be asked again for nothing is cancelled though there would be time.
    const double took = run.drive_on(
        toy::hill{}, {.variations = 2, .evaluations = 1, .linger_s = 0.1, .finish_s = again ? 1000.0 : 0.6});
    CHECK(took < 10);
    if (!again) CHECK(took > 0.6);
    // A turn of a model is booked; one that can be repeated is left to a resume.
    CHECK(run.engine->spent().no_proposals == (again ? 0 : 2));
    CHECK(run.engine->outstanding() == (again ? 2 : 0));
    CHECK(run.left(parts_until({}, op)) == (again ? 2 : 0));
  }
}

TEST_CASE("what a turn of a model has spent is booked though the evaluation of its draft is cancelled") {
  struct endless_but_for_seeds {
    evaluation evaluate(const evaluation_request& request) {
      if (toy::number_in(*request.program) == 500) return toy::hill{}.evaluate(request);
      const auto clock = wall_clock();
      while (clock() < 30 && !request.stop.stop_requested()) std::this_thread::sleep_for(1ms);
      throw error(error_code::interrupted, "cancelled");
    }
  };
  struct drafts {
    bool again = false;
    counter begun = std::make_shared<std::atomic<int>>(0);
    std::string name() const { return "drafts"; }
    bool replayable() const { return again; }
    variation_result vary(const variation_request& request, rng&) {
      request.book({.money = 2, .tokens_in = 70});
      ++*begun;
      request.evaluate(toy::program_of(7));
      return proposal{toy::program_of(7), "drafted"};
    }
  };
  for (const bool again : {false, true}) {
    CAPTURE(again);
    const drafts op{again};
    timed_run run(parts_until({.begun = op.begun, .jobs = 1}, op), 1);
    const double took = run.drive_on(endless_but_for_seeds{},
                                     {.variations = 1, .evaluations = 1, .linger_s = 0.1, .finish_s = 0.2});
    CHECK(took < 10);
    CHECK(run.engine->spent().variation.money == (again ? 0 : 2));
    CHECK(run.engine->spent().variation.tokens_in == (again ? 0 : 70));
    CHECK(run.engine->spent().no_proposals == (again ? 0 : 1));
    CHECK(run.left(parts_until({}, op)) == (again ? 1 : 0));
  }
}

TEST_CASE("a stop rule still lets the seeds be measured, so that there is a champion") {
  search engine(toy::parts({.evaluations = 1}, {}), {.seed = 1});
  for (const int number : {500, 600, 700, 800}) engine.add_seed(toy::program_of(number), 0);
  drive(engine, queue_at_device{}, {}, {.variations = 1, .evaluations = 4, .clock_s = wall_clock()});
  CHECK(engine.stopped().value_or("") == "1 evaluations");
  CHECK(engine.spent().evaluations == 4);
  CHECK(engine.outstanding() == 0);
  CHECK(engine.best().score == doctest::Approx(8));
}

TEST_CASE("no evaluation begins that a budget of evaluations does not have") {
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{2}, std::size_t{16}}) {
    CAPTURE(at_once);
    auto parts = toy::parts({}, {});
    parts.stop = stop::evaluations{20};
    search engine(std::move(parts), {.seed = 1, .proposals_ahead = 40});
    engine.add_seed(toy::program_of(500), 0);
    drive(engine, slow_hill{}, {}, {.variations = 4, .evaluations = at_once, .clock_s = wall_clock()});
    CHECK(engine.stopped().value_or("") == "20 evaluations");
    CHECK(engine.spent().evaluations == 20);
    CHECK(engine.outstanding() == 0);
    CHECK(engine.best().id != no_candidate);
  }
}

namespace {

/// Reads from the journal in a replay, though it is cheap.
struct recorded_step : toy::step {
  bool costly = false;
  bool replayable() const { return false; }
  bool evaluated_after_stop() const { return costly; }
};

/// Evaluates the seed, lets four proposals wait, stops, and gives the number of evaluations after that.
int evaluated_after_stop(const any_variation& op, bool settle_all, std::vector<event>& events,
                         const candidate_store& store) {
  auto parts = toy::parts({}, toy::recorder{&events});
  parts.operators = {op};
  parts.store = store;
  search engine(std::move(parts), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  int evaluated = 0;
  const auto work = [&](capacity free) {
    for (job next = engine.ask(free, 0);; next = engine.ask(free, 0)) {
      if (auto* vary = std::get_if<variation_job>(&next)) {
        engine.tell(vary->id, engine.operators()[vary->op].vary(vary->request, vary->random), {}, {}, 0);
      } else if (auto* evaluate = std::get_if<evaluation_job>(&next)) {
        evaluated += evaluate->request.wanted == evaluation_stage::confirmed ? 0 : 1;
        engine.tell(evaluate->id, toy::hill{}.evaluate(evaluate->request), 0);
      } else {
        return;
      }
    }
  };
  work({.vary = false});
  work({.evaluate = false});
  CHECK(evaluated == 1);
  engine.stop("enough", 0);
  work({.settle_all = settle_all});
  return evaluated - 1;
}

}  // namespace

TEST_CASE(
    "after a stop, proposals that cost nothing wait for a resume, though a replay does not make them again") {
  for (const bool costly : {false, true}) {
    for (const bool as_before : {false, true}) {  // as versions did that knew no such proposals
      CAPTURE(costly);
      CAPTURE(as_before);
      std::vector<event> events;
      const candidate_store store = memory_store();
      const recorded_step op{{}, costly};
      CHECK(evaluated_after_stop(op, as_before, events, store) == (costly || as_before ? 4 : 0));

      auto parts = toy::parts({}, {});
      parts.operators = {op};
      parts.store = store;
      search again(std::move(parts), {.seed = 1});
      const replay_report report = replay(again, source_of(events), store.program_of);
      CHECK_MESSAGE(!report.divergence, report.divergence.value_or(""));
      CHECK(report.events == events.size());
      CHECK(again.spent().evaluations == (costly || as_before ? 5 : 1));
    }
  }
}
