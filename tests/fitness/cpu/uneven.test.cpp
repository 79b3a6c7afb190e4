// Work in some calls for all of them is found in the mean, and noise is not taken for it.
#include "fitness/cpu/uneven.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

namespace {

// Times of the calls of one pair. [ns] What else the machine does befalls one call in twenty, for some
// microseconds, and one in two hundred, for a long time.
std::vector<double> calls(kevo::rng& random, int count, double ns, bool noisy) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    double one = ns * (1 + 0.01 * random.normal());
    if (noisy && random.chance(0.05)) one += 5e3 * random.uniform();
    if (noisy && random.chance(0.005)) one += 1e5 * random.uniform();
    times.push_back(one);
  }
  return times;
}

struct programs {
  double candidate_ns;
  double baseline_ns;
  int count;  // calls in a pair
};

// What is found in `pairs` pairs, where `changed` may change the candidate's calls.
double found(kevo::rng& random, const programs& p, int pairs, bool noisy,
             const std::function<void(std::vector<double>&)>& changed = {}) {
  std::vector<double> excesses;
  std::vector<double> usual;
  for (int i = 0; i < pairs; ++i) {
    auto candidate = calls(random, p.count, p.candidate_ns, noisy);
    const auto baseline = calls(random, p.count, p.baseline_ns, noisy);
    if (changed) changed(candidate);
    usual.push_back(kevo::usual_excess(baseline, kevo::median(candidate)));
    excesses.push_back(kevo::excess_of_mean(candidate) - usual.back());
  }
  return kevo::worked_in_some_calls(excesses, usual, p.candidate_ns);
}

const programs alike = {200e3, 250e3, 48};
const programs brief = {15e3, 20e3, 192};
const programs far_faster = {15e3, 700e3, 24};

}  // namespace

TEST_CASE("what is done in every third call, or in the first of twelve, is found") {
  kevo::rng random(3);
  for (const auto& p : {alike, brief, far_faster}) {
    for (const std::size_t every : {3U, 12U}) {
      for (const int pairs : {3, 4, 10, 40}) {
        CAPTURE(p.candidate_ns);
        CAPTURE(every);
        CAPTURE(pairs);
        const double each = 0.3 * p.candidate_ns;  // that an honest program would do in each call
        const double more = found(random, p, pairs, false, [&](std::vector<double>& times) {
          for (std::size_t i = 0; i < times.size(); i += every) times[i] += each * static_cast<double>(every);
        });
        CHECK(more > 0.8 * each);
        CHECK(more < 1.2 * each);
      }
    }
  }
}

TEST_CASE("equal calls, and pairs in which a call was disturbed, have nothing hidden") {
  kevo::rng random(4);
  CHECK(found(random, alike, 10, false) == 0);
  int pair = 0;
  const auto one_in_four = [&](std::vector<double>& times) {
    if (pair++ % 4 == 0) times.front() += 1e6;
  };
  CHECK(found(random, alike, 12, false, one_in_four) == 0);
  CHECK(kevo::worked_in_some_calls({5e4, 5e4}, {0, 0}, 1e5) == 0);  // too few pairs to tell
}

TEST_CASE("noise is taken for work of the candidate in few timings") {
  kevo::rng random(5);
  constexpr int timings = 400;
  for (const auto& p : {alike, brief, far_faster}) {
    for (const int pairs : {4, 10, 40}) {
      CAPTURE(p.candidate_ns);
      CAPTURE(pairs);
      int wrong = 0;
      for (int i = 0; i < timings; ++i) wrong += found(random, p, pairs, true) > 0 ? 1 : 0;
      CHECK(wrong <= timings / 50);
    }
  }
}

TEST_CASE("a baseline with one call in a pair says nothing of noise, so that a few per cent are allowed") {
  kevo::rng random(6);
  const programs slow_baseline = {1e6, 80e6, 1};
  std::vector<double> excesses;
  std::vector<double> usual;
  for (int i = 0; i < 8; ++i) {
    const auto baseline = calls(random, 1, slow_baseline.baseline_ns, false);
    usual.push_back(kevo::usual_excess(baseline, slow_baseline.candidate_ns));
    excesses.push_back(0.02 * slow_baseline.candidate_ns - usual.back());
  }
  CHECK(kevo::worked_in_some_calls(excesses, usual, slow_baseline.candidate_ns) == 0);
}

TEST_CASE("a candidate that works differently long in each process is not excused by that") {
  // Ten pairs: none, one or three units beside a call, as a program chooses that wants to look like noise.
  const std::vector<double> excesses = {0, 0, 0, 80e3, 80e3, 80e3, 240e3, 240e3, 240e3, 240e3};
  const std::vector<double> usual = {10e3, 11e3, 12e3, 10e3, 11e3, 12e3, 10e3, 11e3, 12e3, 11e3};
  CHECK(kevo::error_of_middle(excesses) > 40e3);
  CHECK(kevo::trusted_error(excesses, kevo::error_of_middle(usual), 500) < 2e3);
  // Where the trusted program differs as much, it is the machine.
  CHECK(kevo::trusted_error(excesses, kevo::error_of_middle(excesses), 500) ==
        kevo::error_of_middle(excesses));
}
