// timed
// Several devices as one fitness function, with devices that are made of a mutex.

#include "fitness/pool/device_pool.hpp"

#include <atomic>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

using namespace kevo;

namespace {

/// What stands for a GPU: it evaluates one program at a time.
struct toy_device {
  std::function<void()> during{};
  double speedup = 2;
  kevo::outcome says = outcome::valid;
  bool lost = false;
  bool wrong_task = false;

  std::mutex busy{};
  std::atomic<int> evaluations = 0;

  evaluation evaluate(const evaluation_request& request) {
    if (wrong_task) throw error(error_code::input, "the reference is wrong");
    const std::scoped_lock alone(busy);
    if (during) during();
    if (lost) throw error(error_code::environment, "the device is lost");
    ++evaluations;
    evaluation e;
    e.outcome = says;
    e.stage = request.wanted;
    if (says == outcome::valid) {
      e.score = e.speedup = speedup;
      e.speedup_interval = {0.995 * speedup, 1.005 * speedup};
    }
    e.cost.wall_s = 1;
    e.cost.parts_s["device"] = 1;
    return e;
  }
};

struct toy_pool {
  std::vector<std::shared_ptr<toy_device>> devices;
  std::shared_ptr<device_pool> pool;

  explicit toy_pool(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) devices.push_back(std::make_shared<toy_device>());
    pool = std::make_shared<device_pool>([this] {
      std::vector<pooled_device> all;
      for (std::size_t i = 0; i < devices.size(); ++i)
        all.push_back({static_cast<int>(i), any_fitness(devices[i])});
      return all;
    });
  }
  evaluation ask(evaluation_stage wanted = evaluation_stage::timed_full) const {
    return pool->evaluate({.program = std::make_shared<const program>(), .wanted = wanted});
  }
};

}  // namespace

TEST_CASE("all devices evaluate at the same time, one program each") {
  for (const std::size_t count : {2U, 4U}) {
    const toy_pool all(count);
    // Each evaluation goes on once as many as there are devices have begun.
    std::latch begun(static_cast<std::ptrdiff_t>(count));
    std::atomic<int> now = 0;
    std::atomic<int> most = 0;
    for (const auto& device : all.devices) {
      device->during = [&] {
        const int inside = ++now;
        for (int seen = most; inside > seen && !most.compare_exchange_weak(seen, inside);) {
        }
        begun.arrive_and_wait();
        --now;
      };
    }
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&] { all.ask(); });
    }
    CHECK(most == static_cast<int>(count));
    for (const auto& device : all.devices) CHECK(device->evaluations == 1);
  }
}

TEST_CASE("evaluations are shared out evenly, and say where they were made") {
  const toy_pool all(3);
  std::map<std::string, int> made;
  for (int i = 0; i < 9; ++i) ++made[all.ask().context.at("device_number")];
  CHECK(made == std::map<std::string, int>{{"0", 3}, {"1", 3}, {"2", 3}});
}

TEST_CASE(
    "a lost device leaves the pool, its evaluation is made on another one, and one result tells of it") {
  const toy_pool all(2);
  all.ask();
  all.devices[0]->lost = true;
  std::size_t told = 0;
  for (int i = 0; i < 6; ++i) {
    const evaluation e = all.ask();
    CHECK(e.valid());
    CHECK(e.context.at("device_number") == "1");
    const auto loss = e.context.find("devices_lost");
    if (loss == e.context.end()) continue;
    ++told;
    CHECK(loss->second == "device 0: the device is lost");
  }
  CHECK(told == 1);
  all.devices[0]->lost = false;  // it does not come back in this run
  CHECK(all.ask().context.at("device_number") == "1");
  CHECK(all.pool->describe().find("device 0: lost") != std::string::npos);

  all.devices[1]->lost = true;
  CHECK_THROWS_AS(all.ask(), error);
  CHECK_THROWS_AS(all.ask(), error);
}

TEST_CASE("a program that loses two devices is no more tried where others are left") {
  const toy_pool all(4);
  for (int i = 0; i < 4; ++i) CHECK(all.ask().valid());
  for (const std::size_t i : {0U, 1U}) all.devices[i]->lost = true;
  const evaluation e = all.ask();
  CHECK(e.outcome == outcome::crashed);
  CHECK(e.feedback == "two devices were lost while it was evaluated");
  CHECK(e.context.at("devices_lost").find("device 1") != std::string::npos);
  CHECK(all.ask().valid());
}

TEST_CASE("devices that never worked do not speak against a program") {
  const toy_pool all(4);
  for (const std::size_t i : {0U, 1U, 2U}) all.devices[i]->lost = true;
  const evaluation e = all.ask();
  CHECK(e.valid());
  CHECK(e.context.at("device_number") == "3");
  CHECK(e.context.at("devices_lost").find("device 2") != std::string::npos);

  const toy_pool none(3);  // such as without a driver: the fault is the machine's
  for (const auto& device : none.devices) device->lost = true;
  CHECK_THROWS_AS(none.ask(), error);
}

TEST_CASE("what is no fault of a device loses none") {
  const toy_pool all(2);
  all.devices[0]->wrong_task = true;
  CHECK_THROWS_AS(all.ask(), error);
  all.devices[0]->wrong_task = false;
  std::set<std::string> used;
  for (int i = 0; i < 4; ++i) used.insert(all.ask().context.at("device_number"));
  CHECK(used.size() == 2);
}

TEST_CASE("a confirmation is made on two devices; they agree, or the worse result says that they do not") {
  const toy_pool all(2);
  const evaluation same = all.ask(evaluation_stage::confirmed);
  CHECK(same.valid());
  CHECK(same.speedup == 2);
  CHECK(same.context.at("confirmed_on") == "0, 1");
  CHECK(!same.context.contains("devices_disagree"));
  CHECK(same.cost.wall_s == 2);
  CHECK(same.cost.parts_s.at("device") == 2);
  CHECK(all.devices[0]->evaluations == 1);
  CHECK(all.devices[1]->evaluations == 1);

  all.devices[1]->speedup = 1.5;
  const evaluation slower = all.ask(evaluation_stage::confirmed);
  CHECK(slower.speedup == 1.5);
  CHECK(slower.context.at("devices_disagree").find("device 1: 1.5 times as fast") != std::string::npos);
  CHECK(slower.feedback.find("the devices disagree") != std::string::npos);

  all.devices[1]->says = outcome::incorrect;
  const evaluation wrong = all.ask(evaluation_stage::confirmed);
  CHECK(wrong.outcome == outcome::incorrect);
  CHECK(wrong.context.at("devices_disagree").find("incorrect") != std::string::npos);

  const toy_pool alone(1);
  CHECK(!alone.ask(evaluation_stage::confirmed).context.contains("confirmed_on"));
}

TEST_CASE("where the second device of a confirmation is lost, the first one has confirmed") {
  const toy_pool all(2);
  all.ask();  // on 0; the next one begins on 1
  all.devices[0]->lost = true;
  const evaluation e = all.ask(evaluation_stage::confirmed);
  CHECK(e.valid());
  CHECK(!e.context.contains("confirmed_on"));
  CHECK(all.ask().context.at("devices_lost") == "device 0: the device is lost");
}
