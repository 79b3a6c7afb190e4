// timed
// What the driver does when the user interrupts a run.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/run/driver.hpp"
#include "src/run/replay.hpp"
#include "tests/run/driven.hpp"
#include "tests/support/toy_search.hpp"

using namespace kevo;
using namespace driven;
using namespace std::chrono_literals;

TEST_CASE("an interruption stops gracefully; a second one cancels what is out") {
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
         .graceful_stop = soft.get_token(),
         .immediate_stop = hard.get_token()});
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
          {.variations = 4, .evaluations = 2, .clock_s = wall_clock(), .graceful_stop = soft.get_token()});
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
        {.variations = 4, .evaluations = 16, .clock_s = wall_clock(), .graceful_stop = soft.get_token()});
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
