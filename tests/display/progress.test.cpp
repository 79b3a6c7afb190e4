// Counts, the remaining time and the bars of stop rules.

#include <doctest/doctest.h>

#include <kevo/stop/any_of.hpp>
#include <kevo/stop/evaluations.hpp>
#include <kevo/stop/seconds.hpp>
#include <kevo/stop/stall.hpp>

#include "src/display/budgets.hpp"
#include "tests/display/displayed.hpp"

using namespace displayed;

TEST_CASE("counts are of candidates, and memory stays small") {
  kevo::display_state s;
  const auto r = synthetic::make(3000);
  for (const auto& e : r.events) s.consume(e);
  std::uint64_t sum = 0;
  for (const auto n : s.outcomes) sum += n;
  CHECK(sum == r.candidates);
  CHECK(s.outcomes[0] == r.ledger.valid);
  CHECK(s.evaluations == r.ledger.evaluations);
  CHECK(s.confirmations == r.ledger.confirmations);
  CHECK(s.curve.size() < kevo::display_state::curve_kept);
  CHECK(s.curve.size() >= kevo::display_state::curve_kept / 2 - 1);
  CHECK(std::is_sorted(s.curve.begin(), s.curve.end()));
  CHECK(s.improvements.size() <= kevo::display_state::improvements_kept);
  REQUIRE(s.champion);
  CHECK(s.champion->speedup == r.best);
  REQUIRE(s.champion_result);
  CHECK(s.champion_result->speedup == r.best);
}

TEST_CASE("the remaining time follows the pace") {
  kevo::display_state s;
  kevo::run_status now;
  CHECK_FALSE(s.remaining_s());
  for (int t = 0; t <= 100; ++t) {
    now.elapsed_s = t;
    now.budget_used = t / 400.0;
    s.refresh(now);
  }
  REQUIRE(s.remaining_s());
  CHECK(*s.remaining_s() == doctest::Approx(300));
  now.budget_used = 1.0;
  s.refresh(now);
  CHECK(*s.remaining_s() == 0);
}

TEST_CASE("every stop rule has its own bar, and one that was set back does not tell the end") {
  const kevo::any_stop_rule rule =
      kevo::stop::any_of{{kevo::stop::evaluations{400}, kevo::stop::seconds{120}, kevo::stop::stall{50}}};
  kevo::display_state s;
  kevo::run_status now;
  for (int t = 0; t <= 60; ++t) {
    now.elapsed_s = now.progress.ledger.elapsed_s = t;
    now.progress.ledger.evaluations = static_cast<std::uint64_t>(2 * t);
    now.progress.since_improvement = static_cast<std::uint64_t>(t < 50 ? 49 : t - 50);
    now.budgets = kevo::shares_of(rule.parts(now.progress));
    s.refresh(now);
  }
  REQUIRE(now.budgets.size() == 3);
  CHECK(now.budgets[0].name == "evaluations 400");
  CHECK(now.budgets[2].name == "stall 50");
  CHECK(now.budgets[0].used == doctest::Approx(0.3));
  REQUIRE(s.remaining_s());
  CHECK(*s.remaining_s() == doctest::Approx(60));  // by seconds; evaluations would last 140
}

TEST_CASE("the rate is that of the last half minute, and its label says that it is the present one") {
  kevo::display_state s;
  s.title = title;
  kevo::run_status now;
  const auto evaluate = [&](double time_s) {
    s.consume({.sequence = 0, .time_s = time_s, .payload = kevo::evaluation_told{}});
    now.elapsed_s = time_s;
  };
  for (int t = 1; t <= 300; ++t) evaluate(t);
  for (int t = 310; t <= 330; t += 10) evaluate(t);
  now.elapsed_s = 335;
  s.refresh(now);
  CHECK(s.evaluations == 303);
  CHECK(s.rate() == doctest::Approx(0.1));  // 3 in 30 s, not 303 in 335 s
  CHECK(kevo::render(s, 120, 40, false).find("0.1 /s now") != std::string::npos);
  // Where a line has no room for the word, it loses the word, not what stands behind it.
  now.progress.ledger.confirmations = 12345678;
  s.refresh(now);
  const auto narrow = kevo::render(s, 109, 40, false);
  CHECK(narrow.find("0.1 /s  12,345,678 conf") != std::string::npos);
}
