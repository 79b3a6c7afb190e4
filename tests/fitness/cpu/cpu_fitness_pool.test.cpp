// timed
// timeout: 300
// Several measuring places. The machine that they are planned for is made up, so that they run on two
// processors, too: figures say nothing there, verdicts do.
#include "fitness/cpu/cpu_fitness_pool.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/machine/core_plan.hpp"
#include "tests/fitness/cpu/line_task.hpp"
#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"

using namespace line_task;

namespace {

/// Cores for two places on the first two processors: each controller shares one with the other's worker.
std::vector<std::vector<int>> six_cores() {
  std::vector<int> cpus;
  for (const auto& core : kevo::physical_cores()) cpus.insert(cpus.end(), core.begin(), core.end());
  const int first = cpus.front();
  const int second = cpus.size() > 1 ? cpus[1] : first;
  return {{first}, {second}, {first}, {second}, {first}, {second}};
}

/// Counts evaluations that measure at the same time. The first one waits for a second one, which on a busy
/// machine may still be at its compiler.
struct overlap {
  std::mutex guard;
  std::condition_variable both;
  int now = 0;
  int most = 0;
  void operator()(bool begins) {
    std::unique_lock lock(guard);
    now += begins ? 1 : -1;
    most = std::max(most, now);
    if (most >= 2) return both.notify_all();
    if (begins) both.wait_for(lock, std::chrono::seconds(60), [this] { return most >= 2; });
  }
};

}  // namespace

TEST_CASE("two places measure two programs at the same time, with the verdicts of one") {
  const shell::scratch folder;
  const auto all =
      kevo::cpu_fitness_pool(example(4000), fixture::settings({}), 0, six_cores(), folder.string());
  const std::map<std::string, kevo::outcome> wanted = {
      {right, kevo::outcome::valid},
      {slow, kevo::outcome::valid},
      {half_as_slow, kevo::outcome::valid},
      {"y[0] = 1;", kevo::outcome::incorrect},
      {right + "y[N] = 0;", kevo::outcome::rejected},
      {"std::abort();", kevo::outcome::crashed},
  };
  std::mutex guard;
  std::map<std::string, kevo::evaluation> found;
  overlap measuring;
  {
    auto next = wanted.begin();
    const auto work = [&] {
      for (;;) {
        std::unique_lock lock(guard);
        if (next == wanted.end()) return;
        const std::string body = (next++)->first;
        lock.unlock();
        kevo::evaluation_request request;
        request.program = candidate(body);
        request.wanted = kevo::evaluation_stage::timed_short;
        request.measuring = std::ref(measuring);
        const auto made = all.evaluate(request);
        lock.lock();
        found[body] = made;
      }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  }
  REQUIRE(found.size() == wanted.size());
  std::map<std::string, int> made_on;
  for (const auto& one : found) {
    const kevo::evaluation& e = one.second;
    INFO(one.first << e.feedback);
    CHECK(e.outcome == wanted.at(one.first));
    ++made_on[e.context.at("device_number")];
  }
  CHECK(made_on.size() == 2);
  CHECK(measuring.most == 2);
  CHECK(measuring.now == 0);
  CHECK_MESSAGE(has(all.describe(), "devices 0, 1: cpu: "), all.describe());

  kevo::evaluation_request request;
  request.program = candidate(right);
  request.wanted = kevo::evaluation_stage::confirmed;
  const auto confirmed = all.evaluate(request);
  REQUIRE_MESSAGE(confirmed.valid(), confirmed.feedback);
  CHECK(has(confirmed.context.at("confirmed_on"), ", "));
  CHECK(confirmed.stage == kevo::evaluation_stage::confirmed);
}

TEST_CASE("where there is room for one place only, the pool is an evaluator of one") {
  const shell::scratch folder;
  const auto cores = six_cores();
  const auto one =
      kevo::cpu_fitness_pool(example(4000), fixture::settings({}), 4, {cores[0], cores[1]}, folder.string());
  kevo::evaluation_request request;
  request.program = candidate(right);
  request.wanted = kevo::evaluation_stage::checked;
  const auto e = one.evaluate(request);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(!e.context.contains("device_number"));
}
