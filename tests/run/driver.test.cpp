#include "src/run/driver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include "src/run/replay.hpp"
#include "tests/support/toy_search.hpp"

using namespace kevo;
using namespace std::chrono_literals;

namespace {

std::function<double()> wall_clock() {
  const auto began = std::chrono::steady_clock::now();
  return [began] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
}

struct slow_hill {
  std::shared_ptr<std::atomic<int>> running = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int>> most = std::make_shared<std::atomic<int>>(0);
  evaluation evaluate(const evaluation_request& request) {
    const int now = ++*running;
    int seen = most->load();
    while (now > seen && !most->compare_exchange_weak(seen, now)) {
    }
    for (int i = 0; i < 4 && !request.stop.stop_requested(); ++i) std::this_thread::sleep_for(1ms);
    --*running;
    if (request.stop.stop_requested()) throw error(error_code::interrupted, "cancelled");
    return toy::hill{}.evaluate(request);
  }
};

/// One evaluation at a time is measured, the others wait for it.
struct queue_at_device {
  std::shared_ptr<std::mutex> device = std::make_shared<std::mutex>();
  std::shared_ptr<std::atomic<int>> measured = std::make_shared<std::atomic<int>>(0);
  evaluation evaluate(const evaluation_request& request) {
    const std::scoped_lock held(*device);
    const measuring_span measuring(request);
    std::this_thread::sleep_for(20ms);
    ++*measured;
    return toy::hill{}.evaluate(request);
  }
};

event_source source_of(const std::vector<event>& events) {
  return [&events](const std::function<void(const event&)>& each) {
    for (const event& e : events) each(e);
  };
}

}  // namespace

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
    CHECK(resumed.outstanding() == 0);
    for (std::size_t i = 0; i < record.size(); ++i) REQUIRE(record[i].sequence == i + 1);
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
  CHECK(engine.outstanding() <= 1);  // a measurement that was held at the end is left to a resume

  for (std::size_t cut = 1; cut <= events.size(); ++cut) {
    const std::vector<event> record(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(cut));
    search again(parts({}, store), {.seed = 7});
    const replay_report report = replay(again, source_of(record), store.program_of);
    REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
    REQUIRE(report.events == cut);
    REQUIRE(report.unfinished.size() == again.outstanding());  // what was held, too
    if (cut == events.size()) CHECK(again.best().id == engine.best().id);
  }
}

TEST_CASE("an interruption winds down; a second one cancels what is out") {
  std::stop_source soft, hard;
  auto parts = toy::parts({.evaluations = 1000000}, {});
  search engine(std::move(parts), {.seed = 1});
  engine.add_seed(toy::program_of(500), 0);
  std::jthread user([&] {
    std::this_thread::sleep_for(60ms);
    soft.request_stop();
    std::this_thread::sleep_for(30ms);
    hard.request_stop();
  });
  drive(engine, slow_hill{}, {},
        {.variations = 1,
         .evaluations = 2,
         .clock_s = wall_clock(),
         .wind_down = soft.get_token(),
         .at_once = hard.get_token()});
  CHECK(engine.stopped().value_or("") == "interrupted");
  CHECK(engine.spent().evaluations > 0);
}

namespace {

/// Works until it is told that the run is ending, and then proposes.
struct patient_step {
  std::shared_ptr<std::atomic<int>> told = std::make_shared<std::atomic<int>>(0);
  std::string name() const { return "patient"; }
  variation_result vary(const variation_request& request, rng& random) {
    if (random.chance(0.5)) return toy::step{}.vary(request, random);
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (!request.ending.stop_requested() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(1ms);
    *told += request.ending.stop_requested() && !request.stop.stop_requested() ? 1 : 0;
    return toy::step{}.vary(request, random);
  }
  std::size_t concurrency() const { return 2; }
};

}  // namespace

TEST_CASE("operators are told that the run is ending, by a stop rule and by the first interrupt") {
  for (const bool interrupted : {false, true}) {
    CAPTURE(interrupted);
    std::stop_source soft;
    const patient_step patient;
    auto parts = toy::parts({.evaluations = interrupted ? 1000000U : 10U}, {});
    parts.operators = {patient, toy::step{}};
    search engine(std::move(parts), {.seed = 1});
    engine.add_seed(toy::program_of(500), 0);
    std::jthread user([&] {
      std::this_thread::sleep_for(60ms);
      if (interrupted) soft.request_stop();
    });
    const auto began = std::chrono::steady_clock::now();
    drive(engine, toy::hill{}, {},
          {.variations = 4, .evaluations = 2, .clock_s = wall_clock(), .wind_down = soft.get_token()});
    CHECK(std::chrono::steady_clock::now() - began < 4s);
    CHECK(patient.told->load() > 0);
  }
}

TEST_CASE("an interruption does not wait for evaluations that queue for the device; a resume has them") {
  std::vector<event> events;
  const candidate_store store = memory_store();
  auto made = toy::parts({.evaluations = 1000000}, toy::recorder{&events});
  made.store = store;
  search engine(std::move(made), {.seed = 1, .proposals_ahead = 40});
  engine.add_seed(toy::program_of(500), 0);
  std::stop_source soft;
  queue_at_device fitness;
  std::atomic<int> at_stop{-1};
  std::jthread user([&] {
    while (fitness.measured->load() < 4) std::this_thread::sleep_for(1ms);
    soft.request_stop();
    at_stop = fitness.measured->load();
  });
  drive(engine, fitness, {},
        {.variations = 4, .evaluations = 16, .clock_s = wall_clock(), .wind_down = soft.get_token()});
  user.join();
  CHECK(engine.stopped().value_or("") == "interrupted");
  // Told is what was measured, and no queue was: a coordinator that is late costs a few, not the 15 that
  // wait.
  CHECK(engine.spent().evaluations + engine.spent().confirmations ==
        static_cast<unsigned>(fitness.measured->load()));
  CHECK(fitness.measured->load() - at_stop < 12);
  CHECK(engine.outstanding() > 0);

  auto parts = toy::parts({.evaluations = 1000000}, {});
  parts.store = store;
  search resumed(std::move(parts), {.seed = 1, .proposals_ahead = 40});
  const replay_report report = replay(resumed,
                                      [&](const std::function<void(const event&)>& each) {
                                        for (const event& e : events) each(e);
                                      },
                                      store.program_of, {.recompute_variations = false});
  CHECK_MESSAGE(!report.divergence, report.divergence.value_or(""));
  CHECK(report.unfinished.size() == engine.outstanding());
}

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
    if (const auto* told = std::get_if<evaluation_told>(&e.what)) best = std::max(best, told->result->score);
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

TEST_CASE("a stop rule still lets the seeds be measured, so that there is a champion") {
  search engine(toy::parts({.evaluations = 1}, {}), {.seed = 1});
  for (const int number : {500, 600, 700, 800}) engine.add_seed(toy::program_of(number), 0);
  drive(engine, queue_at_device{}, {}, {.variations = 1, .evaluations = 4, .clock_s = wall_clock()});
  CHECK(engine.stopped().value_or("") == "1 evaluations");
  CHECK(engine.spent().evaluations == 4);
  CHECK(engine.outstanding() == 0);
  CHECK(engine.best().score == doctest::Approx(8));
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
      const auto* told = std::get_if<variation_told>(&e.what);
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
