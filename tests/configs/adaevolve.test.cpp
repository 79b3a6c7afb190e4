// timeout: 120
// configs/systems/adaevolve.yaml on a toy task with a scripted model: intensities of their own on islands, a
// spawned island, and strategies in the prompts after a stall.

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/select/adaptive_intensity.hpp>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/system_run.hpp"

namespace {

/// Scores rise for a while, and then they do not: n % 97 + 1 with n from 970 on.
scripted::answer stalling_model(const scripted::request& r) {
  if (has(r.body, "Name 3 strategies"))
    return scripted::says("<idea>STRATEGY_A</idea><idea>STRATEGY_B</idea><idea>STRATEGY_C</idea>");
  const std::size_t n = 970 + (r.number < 25 ? r.number : 97 * (r.number % 50) + r.number % 23);
  return scripted::says(scripted::value_edit(scripted::parent_number(r.body), std::to_string(n)));
}

/// What each call of a run was about: i, a call for strategies; A, B or C, a proposal that follows one; -, a
/// proposal without.
std::string strategies_in(const kevo::journal& record) {
  std::string order;
  record.for_each_model_call([&](kevo::ticket, std::int64_t number) {
    const auto calls = record.model_calls(std::vector{number});
    const std::string& prompt = calls.front().messages;
    order += has(prompt, "Name 3 strategies") ? 'i'
             : has(prompt, "STRATEGY_A")      ? 'A'
             : has(prompt, "STRATEGY_B")      ? 'B'
             : has(prompt, "STRATEGY_C")      ? 'C'
                                              : '-';
  });
  return order;
}

/// Strategies are asked for, told in turn to two proposals each, and not asked for again before.
void check_strategies(const std::string& order) {
  MESSAGE(order);
  std::size_t calls = 0;
  for (std::size_t at = order.find('i'); at != std::string::npos; at = order.find('i', at + 1)) {
    ++calls;
    const std::string next = order.substr(at + 1, order.find('i', at + 1) - at - 1);
    if (at + 1 + next.size() == order.size()) continue;  // the run ended
    for (const char which : {'A', 'B', 'C'})
      CHECK_MESSAGE(std::count(next.begin(), next.end(), which) == 2, next);
  }
  CHECK(calls >= 2);
}

}  // namespace

TEST_CASE("adaevolve: an intensity for each island, new islands and new strategies when little improves") {
  auto server = std::make_unique<scripted::server>(stalling_model);
  const scripted::project p("  models: []\n", "");
  const auto ended =
      p.answer(scripted::system_on(p, "adaevolve", server->url(),
                                   {"archive.spawn_below=0.1", "archive.interval=5", "archive.cooldown=20",
                                    "run.parallel.variations=1", "stop={proposals: 120}"}));
  CHECK(ended.at("valid").to_number<int>() >= 60);
  server.reset();

  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  scripted::islands_replayed run{kevo::islands(
      kevo::top_k(20), kevo::topology::ring(2),
      {.interval = 5, .count_rejected = true, .share = 0.25, .most = 5, .spawn_below = 0.1, .cooldown = 20})};
  run.follow(record);
  CHECK(run.other_answers == 0);
  CHECK(run.strangers == 0);
  CHECK(run.world.count() > 2);  // spawned
  CHECK(run.turns.size() == run.world.count());
  CHECK(scripted::missing_in_prompts(record, run) == 0);

  // The results of an island, and nothing else, set its intensity.
  std::vector<kevo::adaptive_intensity> islands(run.world.count());
  kevo::adaptive_intensity together;
  record.for_each_event([&](const kevo::event& e) {
    const auto* told = std::get_if<kevo::evaluation_told>(&e.payload);
    if (told == nullptr || !told->result->valid()) return;
    const kevo::observation seen{
        .candidate = told->candidate, .outcome = told->result->outcome, .score = told->result->score};
    together.observe(seen);
    if (const auto home = run.world.home_of(told->candidate)) islands[*home].observe(seen);
  });
  std::set<double> intensities;
  for (const auto& one : islands) intensities.insert(one.intensity());
  CHECK(intensities.size() == islands.size());

  const std::string order = strategies_in(record);
  CHECK(order.substr(0, 10).find('i') == std::string::npos);  // while scores rise
  check_strategies(order);
  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});  // without a server
  CHECK_MESSAGE(has(again.out, "all decisions were the same"), again.out << again.err);
}

TEST_CASE("adaevolve: turns at the same time are repeated from the record") {
  auto server = std::make_unique<scripted::server>(stalling_model);
  const scripted::project p("  models: []\n", "");
  p.answer(scripted::system_on(p, "adaevolve", server->url(),
                               {"run.parallel.variations=4", "stop={proposals: 120}"}));
  server.reset();
  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(has(again.out, "all decisions were the same"), again.out << again.err);
}

TEST_CASE("adaevolve: a run that is resumed goes on with the strategy that it had") {
  scripted::server server(stalling_model);
  const scripted::project p("  models: []\n", "");
  p.answer(scripted::system_on(p, "adaevolve", server.url(),
                               {"run.parallel.variations=1", "stop={proposals: 62}"}));
  const auto order = [&] {
    return strategies_in(kevo::journal::open_read_only((p.folder / "run").string()));
  };
  const std::string before = order();
  REQUIRE(before.find('i') != std::string::npos);
  REQUIRE(before.size() - before.rfind('i') <= 7);
  p.answer({"resume", "run", "--set", "stop={proposals: 100}"});
  const std::string after = order();
  CHECK(after.substr(0, before.size()) == before);
  CHECK(after.size() > before.size() + 30);
  check_strategies(after);
}
