// links: core
// A search with a proposal filter: what is dropped costs no evaluation, and the record says so.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/filter/proposal_net.hpp>
#include <kevo/run_to_end.hpp>
#include <kevo/select/priority_queue.hpp>

#include "tests/support/toy_search.hpp"

namespace {

using kevo::candidate_id;

/// Numbers of the toy search lie on a line.
kevo::source_embedding line() {
  return {1,
          [](const kevo::program& p) { return std::vector<double>{static_cast<double>(toy::number_in(p))}; }};
}

kevo::search_parts filtered_parts(std::vector<kevo::event>& events, double epsilon, std::size_t batch) {
  kevo::search_parts parts = toy::parts({.evaluations = 40}, {&events});
  parts.filter = kevo::filtering{kevo::proposal_net(epsilon, line()), batch};
  return parts;
}

template <class Event>
std::vector<Event> all_of(const std::vector<kevo::event>& events) {
  std::vector<Event> found;
  for (const auto& e : events) {
    if (const auto* one = std::get_if<Event>(&e.payload)) found.push_back(*one);
  }
  return found;
}

}  // namespace

TEST_CASE("what a filter drops is never evaluated, is recorded with its reason, and is counted") {
  std::vector<kevo::event> events;
  kevo::search engine(filtered_parts(events, 50, 4), {.seed = 3});
  engine.add_seed(toy::program_of(5000), 0);
  kevo::any_fitness fitness = toy::hill{};
  kevo::run_to_end(engine, fitness, [] { return 0.0; });
  std::set<candidate_id> dropped, evaluated;
  for (const auto& batch : all_of<kevo::proposals_filtered>(events)) {
    CHECK(batch.passed.size() + batch.dropped.size() <= 4);
    for (const auto& one : batch.dropped) {
      dropped.insert(one.candidate);
      CHECK(one.reason.find("its distance to candidate") == 0);
    }
  }
  for (const auto& asked : all_of<kevo::evaluation_asked>(events)) evaluated.insert(asked.candidate);
  CHECK(dropped.size() > 3);
  CHECK(engine.spent().filtered == dropped.size());
  for (const candidate_id one : dropped) CHECK_FALSE(evaluated.contains(one));
  // All that was evaluated is more than epsilon apart.
  for (const candidate_id a : evaluated) {
    for (const candidate_id b : evaluated) {
      if (a >= b) continue;
      const auto number = [&](candidate_id id) { return toy::number_in(*engine.snapshot(id).program); };
      CHECK(std::abs(number(a) - number(b)) > 50);
    }
  }
}

TEST_CASE("a batch is filtered together, and before time only where nothing more can come") {
  std::vector<kevo::event> events;
  kevo::search_parts parts = filtered_parts(events, 1, 100);
  kevo::priority_queue rounds;
  rounds.candidates = 6;
  rounds.measurements = 1;
  rounds.inspirations = {0, 0};
  parts.select = rounds;
  kevo::search engine(std::move(parts), {.seed = 4});
  engine.add_seed(toy::program_of(5000), 0);
  kevo::any_fitness fitness = toy::hill{};
  kevo::run_to_end(engine, fitness, [] { return 0.0; });
  // The round is the batch: six proposals, less those of known programs.
  const auto batches = all_of<kevo::proposals_filtered>(events);
  REQUIRE(batches.size() >= 2);
  for (std::size_t i = 0; i + 1 < batches.size(); ++i) {
    CHECK(batches[i].passed.size() + batches[i].dropped.size() >= 4);
    CHECK(batches[i].passed.size() + batches[i].dropped.size() <= 6);
  }
  // Within a round: all measurements, then all variations, then the evaluations of the children.
  std::string order;
  for (const auto& e : events) {
    if (std::holds_alternative<kevo::variation_asked>(e.payload)) order += 'v';
    if (std::holds_alternative<kevo::proposals_filtered>(e.payload)) order += 'f';
    if (const auto* asked = std::get_if<kevo::evaluation_asked>(&e.payload);
        asked && asked->wanted != kevo::evaluation_stage::confirmed)
      order += asked->fresh ? 'm' : 'e';
  }
  CAPTURE(order);
  CHECK(order.find("emmmmmmvvvvvvfe") == 0);  // the seed, then the first round
  CHECK(order.find("vm") == std::string::npos);
}

TEST_CASE("an operator that makes nothing but near duplicates comes to an end") {
  std::vector<kevo::event> events;
  kevo::search_parts parts = filtered_parts(events, 1e6, 1);  // everything is near the seed
  kevo::search engine(std::move(parts), {.seed = 5});
  engine.add_seed(toy::program_of(5000), 0);
  kevo::any_fitness fitness = toy::hill{};
  kevo::run_to_end(engine, fitness, [] { return 0.0; });
  CHECK(engine.stopped() == std::string("operators exhausted"));
  CHECK(engine.spent().evaluations == 1);
  CHECK(engine.spent().filtered > 0);
  CHECK(engine.spent().filtered <= 50);  // dropped proposals count against the patience of 50 turns
}

TEST_CASE("a filter that forgets a proposal is an error, because the search would wait for it") {
  struct forgetful {
    void remember(const kevo::unevaluated&) {}
    kevo::filter_verdict filter(std::span<const kevo::unevaluated>) { return {}; }
  };
  std::vector<kevo::event> events;
  kevo::search_parts parts = toy::parts({.evaluations = 40}, {&events});
  parts.filter = kevo::filtering{forgetful{}, 1};
  kevo::search engine(std::move(parts), {.seed = 5});
  engine.add_seed(toy::program_of(5000), 0);
  kevo::any_fitness fitness = toy::hill{};
  CHECK_THROWS_WITH_AS(kevo::run_to_end(engine, fitness, [] { return 0.0; }),
                       doctest::Contains("did not name each proposal of its batch once"), kevo::error);
}
