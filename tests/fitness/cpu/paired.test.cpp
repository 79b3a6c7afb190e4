// How calls become pairs: the boundary of a call, the plan, and the order of contents.
#include "fitness/cpu/paired.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <doctest/doctest.h>

namespace {

kevo::content_list contents_of(std::size_t plain, std::size_t others) {
  kevo::content_list list;
  for (std::size_t i = 0; i < plain + others; ++i) {
    auto c = std::make_shared<kevo::content>();
    if (i >= plain) c->kind = kevo::variety::spiked;
    list.push_back(std::move(c));
  }
  return list;
}

std::ptrdiff_t spiked_among(const kevo::content_list& list, std::size_t from, std::size_t count) {
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(from);
  return std::count_if(begin, begin + static_cast<std::ptrdiff_t>(count),
                       [](const auto& c) { return c->kind == kevo::variety::spiked; });
}

}  // namespace

TEST_CASE(
    "the cost of a call's boundary is what the pacer took beyond its pace, where nothing disturbed it") {
  kevo::call_boundary boundary;
  CHECK(boundary.cost_ns() == 0);
  for (int i = 0; i < 11; ++i) boundary.add({.whole_ns = kevo::pace_ns + 5000 + 100 * i});
  CHECK(boundary.cost_ns() == doctest::Approx(5500));
  // Its processor was taken away, so that it worked less than the real time it waited for.
  for (int i = 0; i < 30; ++i) boundary.add({.whole_ns = kevo::pace_ns - 4000});
  CHECK(boundary.cost_ns() == doctest::Approx(5500));
  CHECK(boundary.resolution_ns() == doctest::Approx(500));
  for (int i = 0; i < 36; ++i) boundary.add({.whole_ns = kevo::pace_ns + (i % 2 == 0 ? 6000 : 9000)});
  CHECK(boundary.cost_ns() == doctest::Approx(7500));
  CHECK(boundary.resolution_ns() == doctest::Approx(3000));
  // On a busy machine: a time may be too small by more than the resolution, which does not call it
  // impossible.
  for (int i = 0; i < 36; ++i) boundary.add({.whole_ns = kevo::pace_ns + (i % 2 == 0 ? 10000 : 40000)});
  CHECK(boundary.resolution_ns() == doctest::Approx(5000));
  CHECK(boundary.spread_ns() == doctest::Approx(30000));
  // Times of several threads beside other work: most calls waited, and what they waited is no cost of a call.
  for (int i = 0; i < 36; ++i)
    boundary.add({.whole_ns = kevo::pace_ns + (i % 6 == 0 ? 8000 : 500000 + 1000 * i)});
  CHECK(boundary.cost_ns() == doctest::Approx(8000));
}

TEST_CASE("a plan does not depend on a candidate's time but in the number of calls") {
  const auto plan = kevo::plan_pairing(50e3, 60e3, 256, 10e6);
  CHECK(plan.candidate_calls == plan.baseline_calls);
  CHECK(plan.candidate_calls == 12);
  CHECK(plan.rounds == 4);
  const auto brief = kevo::plan_pairing(1e3, 1e3, 256, 10e6);
  CHECK(brief.candidate_calls == 12);
  CHECK(brief.rounds == 10);
  CHECK(kevo::plan_pairing(5e6, 5e6, 256, 10e6).candidate_calls == 1);
  CHECK(kevo::plan_pairing(5e6, 5e6, 256, 10e6).rounds == 1);
  CHECK(kevo::plan_pairing(400e6, 1e6, 256, 10e6).half);
  CHECK(kevo::plan_pairing(1e6, 400e6, 256, 10e6).half);
  CHECK(kevo::plan_pairing(60e6, 60e6, 256, 10e6).half);
  CHECK_FALSE(kevo::plan_pairing(1e6, 1e6, 256, 10e6).half);
  CHECK(kevo::plan_pairing(1e6, 1e6, 256, 0).half);  // as little as can be
}

TEST_CASE("where calls of the baseline take long, several short processes of the candidate make one time") {
  const auto many = kevo::plan_pairing(1.4e6, 75e6, 27, 5e6);
  CHECK(many.half);
  CHECK(many.baseline_calls == 1);
  CHECK(many.candidate_processes == 6);
  // Together these take a third of the time of the baseline's calls at most.
  for (const double candidate : {1e3, 0.9e6, 3e6, 8e6, 20e6, 75e6}) {
    for (const double start : {1e6, 3e6, 40e6}) {
      const auto plan = kevo::plan_pairing(candidate, 75e6, 27, 5e6, start);
      const double slow = start + 2 * 75e6;
      const double fast = start + (1 + plan.candidate_calls) * candidate;
      INFO(candidate << " ns, start " << start << " ns");
      CHECK(plan.candidate_processes >= 1);
      if (plan.candidate_processes > 1) CHECK(plan.candidate_processes * fast <= slow / 3);
      CHECK(plan.pair_ns >= slow);
      CHECK(plan.pair_ns <= slow + std::max(fast, slow / 3) + 1);
    }
  }
  // Not where both take about as long, where the candidate is the slow one, or where a pair is to be as short
  // as it can be.
  CHECK(kevo::plan_pairing(60e6, 60e6, 27, 5e6).candidate_processes == 1);
  CHECK(kevo::plan_pairing(75e6, 1.4e6, 27, 5e6).candidate_processes == 1);
  CHECK(kevo::plan_pairing(1.4e6, 1.4e6, 27, 5e6).candidate_processes == 1);
  CHECK(kevo::plan_pairing(1.4e6, 75e6, 27, 0).candidate_processes == 1);
}

TEST_CASE("no plan needs more contents than there are, so that a process sees none twice") {
  for (const std::size_t contents : {2U, 3U, 5U, 8U, 31U, 256U}) {
    for (const double candidate : {500.0, 20e3, 3e6, 90e6}) {
      for (const double baseline : {500.0, 20e3, 3e6, 90e6}) {
        const auto plan = kevo::plan_pairing(candidate, baseline, contents, 10e6);
        const int turns = plan.half ? 1 : 2 * plan.rounds;
        const int most = std::max(plan.candidate_calls, plan.baseline_calls);
        INFO(contents << " contents, " << candidate << " and " << baseline << " ns");
        CHECK(plan.candidate_calls >= 1);
        CHECK(plan.baseline_calls >= 1);
        // The first content is that of the untimed first call. Two or three contents do not suffice for two
        // turns: then new processes begin within the block.
        if (contents > 3) CHECK(1 + turns * most <= static_cast<int>(contents));
      }
    }
  }
}

TEST_CASE("each eight contents in a row are the same mixture, in an order that changes") {
  const auto contents = contents_of(40, 24);
  kevo::rng random(7);
  const auto order = kevo::shuffled_mixture(contents, random);
  REQUIRE(order.size() == contents.size());
  for (std::size_t from = 0; from < order.size(); from += 8) CHECK(spiked_among(order, from, 8) == 3);
  CHECK(std::set<std::shared_ptr<const kevo::content>>(order.begin(), order.end()).size() == contents.size());
  CHECK(kevo::shuffled_mixture(contents, random) != order);
  CHECK(kevo::shuffled_mixture(contents_of(5, 0), random).size() == 5);
  CHECK(kevo::shuffled_mixture(contents_of(0, 11), random).size() == 11);
}
