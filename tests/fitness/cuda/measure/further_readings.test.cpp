// Host times, and time that a program saves at the expense of other moments.
#include "fitness/cuda/measure/further_readings.hpp"

#include <vector>

#include <doctest/doctest.h>

#include <kevo/evaluate/statistics.hpp>
#include <kevo/random.hpp>

#include "fitness/cuda/measure/two_clocks.hpp"

using kevo::cuda::call_times;
using kevo::cuda::further_readings;
using kevo::cuda::plan_further;

namespace {

// Calls of a device that nobody else uses: they vary by a hundredth, and one in a hundred is held up.
std::vector<double> calls(kevo::rng& random, std::size_t count, double ns, double held_up_ns = 2e5) {
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) {
    double one = ns * (1 + 0.01 * random.normal());
    if (random.chance(0.01)) one += held_up_ns * random.uniform();
    times.push_back(one);
  }
  return times;
}

struct device_program {
  double device_ns = 50e3;
  double host_ns = 200e3;
  double before_ns = 0;   // work before a call begins, in a busy call on the clock
  double between_ns = 0;  // work between calls that are not held
};

constexpr double around_ns = 40e3;   // what every call that is not held takes around a program
constexpr double change_ns = 150e3;  // the change of contexts of a busy call
constexpr double early_ns = 300e3;   // further ones where work is begun before it

call_times block_of(kevo::rng& random, const device_program& p, const kevo::cuda::further_plan& plan) {
  call_times times;
  times.held = calls(random, 60, p.device_ns);
  const double before_ns = p.before_ns > 0 ? p.before_ns + early_ns : 0;
  times.busy = calls(random, plan.busy_calls, p.device_ns + change_ns + before_ns);
  times.host = calls(random, plan.host_pairs * plan.host_calls, p.host_ns + around_ns);
  times.around = calls(random, plan.host_pairs * plan.host_calls, change_ns + p.between_ns);
  times.idle = calls(random, plan.host_pairs * plan.host_calls, around_ns);
  times.early = calls(random, plan.busy_calls, p.device_ns + change_ns + early_ns);
  return times;
}

further_readings measured(kevo::rng& random, const device_program& candidate, const device_program& baseline,
                          int blocks) {
  const auto plan = plan_further(400, 512, false);
  further_readings further(plan);
  for (int i = 0; i < blocks; ++i) {
    for (int pair = 0; pair < 4; ++pair)
      further.add_pair(calls(random, 20, candidate.device_ns), calls(random, 20, baseline.device_ns));
    further.add_block(block_of(random, candidate, plan), block_of(random, baseline, plan));
  }
  return further;
}

}  // namespace

TEST_CASE("host times are what is left of a call without what every call takes, in pairs") {
  kevo::rng random(1);
  const auto further = measured(random, {.host_ns = 50e3}, {.host_ns = 185e3}, 4);
  const auto pairs = further.host_pairs();
  CHECK(pairs.size() == 16);
  const auto speedup = kevo::speedup_of(pairs, 0.05);
  CHECK(speedup.value == doctest::Approx(3.7).epsilon(0.03));
  CHECK(speedup.range.low < 3.7);
  CHECK(speedup.range.high > 3.7);
  // Time that a program takes between its calls is part of them.
  const auto works_between = measured(random, {.host_ns = 50e3, .between_ns = 60e3}, {.host_ns = 185e3}, 4);
  CHECK(kevo::speedup_of(works_between.host_pairs(), 0.05).value ==
        doctest::Approx(185.0 / 110).epsilon(0.05));
}

TEST_CASE("work before a call begins is found in busy calls, and honest programs are left alone") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    kevo::rng random(seed);
    // A program as fast as the baseline, a faster one, and a slower one.
    for (const double device_ns : {50e3, 20e3, 400e3}) {
      const auto honest = measured(random, {.device_ns = device_ns}, {}, 4);
      CHECK(honest.added_ns() == 0);
    }
    const auto clears_before = measured(random, {.device_ns = 100e3, .before_ns = 40e3}, {}, 4);
    CHECK(clears_before.free_ns() == doctest::Approx(40e3).epsilon(0.2));
    // One block proves nothing.
    CHECK(measured(random, {.before_ns = 40e3}, {}, 1).free_ns() == 0);
  }
}

TEST_CASE("a program whose streams wait for each other keeps the device for its turn, and is left alone") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    kevo::rng random(seed);
    const auto plan = plan_further(400, 512, false);
    // In all calls, and in every other one.
    for (const int each : {1, 2}) {
      further_readings further(plan);
      for (int i = 0; i < 4; ++i) {
        for (int pair = 0; pair < 4; ++pair)
          further.add_pair(calls(random, 20, 94e3), calls(random, 20, 94e3));
        auto candidate = block_of(random, {.device_ns = 94e3}, plan);
        for (std::size_t k = 0; k < candidate.busy.size(); ++k) {
          if (k % static_cast<std::size_t>(each) == 0) candidate.busy[k] += 2.4e6 + 1e5 * random.uniform();
        }
        further.add_block(candidate, block_of(random, {.device_ns = 94e3}, plan));
      }
      CHECK(further.free_ns() == 0);
      CHECK(further.untold_blocks() == (each == 1 ? 4 : 0));
    }
  }
}

TEST_CASE("work in every fifth call for all of them is found, which the middle calls do not show") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    kevo::rng random(seed);
    further_readings further;
    for (int pair = 0; pair < 16; ++pair) {
      auto candidate = calls(random, 20, 50e3, 0);
      for (std::size_t i = 0; i < candidate.size(); i += 5) candidate[i] += 100e3;
      CHECK(kevo::cuda::middle_mean(candidate) < 51e3);
      further.add_pair(candidate, calls(random, 20, 70e3));
    }
    CHECK(further.uneven_ns() > 15e3);
    CHECK(further.uneven_ns() < 25e3);
  }
}

TEST_CASE("a device that often holds calls up is not taken for such work") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    kevo::rng random(seed);
    further_readings further;
    for (int pair = 0; pair < 16; ++pair) {
      const auto noisy = [&](double ns) {
        auto times = calls(random, 20, ns);
        for (auto& one : times) one += random.chance(0.1) ? 1e5 * random.uniform() : 0;
        return times;
      };
      further.add_pair(noisy(50e3), noisy(55e3));
    }
    CHECK(further.uneven_ns() == 0);
  }
}

TEST_CASE("further readings get their share of the contents of a process, or a process of their own") {
  const auto usual = plan_further(400, 512, false);
  CHECK(usual.host_pairs == 4);
  CHECK(usual.host_calls == 6);
  CHECK(usual.busy_calls == 8);
  CHECK(usual.contents() == 25 + 9);
  const auto as_score = plan_further(400, 512, true);
  CHECK(as_score.host_pairs == 4);
  CHECK(as_score.host_calls == 16);
  for (const bool score : {false, true}) {
    for (std::uint32_t contents = 16; contents < 500; ++contents) {
      const auto plan = plan_further(contents, 512, score);
      CHECK(plan.host_calls >= 1);
      CHECK_FALSE(plan.host_process);
      // At least two pairs of two calls, and the first call of the process.
      CHECK(plan.contents() + 5 <= contents);
    }
    for (std::uint32_t contents = 3; contents < 16; ++contents) {
      const auto plan = plan_further(contents, 512, score);
      CHECK(plan.host_process);
      CHECK(plan.contents() == 0);
      CHECK(plan.host_contents() + 1 <= contents);
    }
  }
  CHECK(plan_further(2, 512, true).host_pairs == 0);
  // The arenas have no room for more.
  CHECK(plan_further(400, 9, false).host_calls == 2);
  CHECK(plan_further(400, 1, false).host_pairs == 0);
  for (std::uint32_t room = 2; room < 100; ++room) {
    for (const std::uint32_t contents : {3U, 5U, 20U, 80U, 400U}) {
      const auto plan = plan_further(contents, room, false);
      CHECK(plan.host_calls >= 1);
      CHECK(plan.host_contents() <= room);
      CHECK(plan.busy_contents() <= room);
    }
  }
}
