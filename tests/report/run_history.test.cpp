#include "src/report/run_history.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/report/synthetic_run.hpp"

namespace {

kevo::run_history history_of(const synthetic::run& r) {
  return kevo::history_of(
      [&](const auto& visit) {
        for (const auto& e : r.events) visit(e);
      },
      synthetic::empty_grid());
}

}  // namespace

TEST_CASE("a history agrees with the search that made the events") {
  const auto r = synthetic::make(400);
  const auto h = history_of(r);
  REQUIRE(h.candidates().size() == r.candidates);
  CHECK(h.spent().proposals == r.ledger.proposals);
  CHECK(h.spent().duplicates == r.ledger.duplicates);
  CHECK(h.spent().no_proposals == r.ledger.no_proposals);
  CHECK(h.spent().evaluations == r.ledger.evaluations);
  CHECK(h.spent().confirmations == r.ledger.confirmations);
  CHECK(h.spent().valid == r.ledger.valid);
  CHECK(h.spent().variation == r.ledger.variation);
  CHECK(h.spent().evaluation == r.ledger.evaluation);
  CHECK(h.spent().waited_s > 1);
  CHECK(h.spent().waited_s == doctest::Approx(r.ledger.waited_s));
  CHECK(h.evaluations() == r.ledger.evaluations + r.ledger.confirmations);
  REQUIRE(h.best());
  REQUIRE(h.crown_of(*h.best()) != nullptr);
  CHECK(h.crown_of(*h.best())->speedup == r.best);
  CHECK(h.crown_of(*h.best())->speedup_interval == r.best_interval);
  CHECK(h.stopped_by());
  REQUIRE(h.archive().size() == r.archive.size());
  for (std::size_t i = 0; i < r.archive.size(); ++i) CHECK(h.archive().at(i) == r.archive.at(i));

  std::uint64_t sum = 0;
  for (const auto n : h.outcomes()) sum += n;
  CHECK(sum == r.candidates);
  CHECK(h.outcomes()[0] == r.ledger.valid);
  REQUIRE(h.operators().size() == 3);
  std::uint64_t candidates = h.seeds().candidates, turns = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& op = h.operators()[i];
    candidates += op.candidates;
    turns += op.turns;
    CHECK(op.turns == op.proposals + op.no_proposals);
    CHECK(op.proposals == op.duplicates + op.candidates);
    CHECK(op.improved + op.new_cells <= op.valid);
    // The portfolio saw the same rewards: a turn is its own once it ended.
    CHECK(op.mean_reward() == doctest::Approx(r.credits[i].mean_reward).epsilon(0.02));
  }
  CHECK(candidates == r.candidates);
  CHECK(turns == r.ledger.proposals + r.ledger.no_proposals);
}

TEST_CASE("the curves rise, and champions are a subset of what was confirmed") {
  const auto h = history_of(synthetic::make(400, 7));
  REQUIRE(h.best_seen().size() >= 3);
  CHECK(std::is_sorted(h.best_seen().begin(), h.best_seen().end(), [](const auto& a, const auto& b) {
    return a.score < b.score && a.ordinal < b.ordinal;
  }));
  CHECK(std::is_sorted(h.champions().begin(), h.champions().end(),
                       [](const auto& a, const auto& b) { return a.speedup < b.speedup; }));
  for (const auto& c : h.champions()) {
    const auto& all = h.candidates()[c.candidate].evaluations;
    CHECK(std::any_of(all.begin(), all.end(), [&](const auto& e) {
      return e.stage == kevo::evaluation_stage::confirmed && e.speedup == c.speedup &&
             e.speedup_interval == c.speedup_interval;
    }));
  }
}

TEST_CASE("lineage is closed, ordered and bounded") {
  const auto h = history_of(synthetic::make(300, 3));
  const auto id = *h.best();
  const auto line = h.lineage(id);
  REQUIRE(line.back() == id);
  CHECK(std::is_sorted(line.begin(), line.end()));
  for (const auto one : line) {
    for (const auto parent : h.candidates()[one].parents)
      CHECK(std::binary_search(line.begin(), line.end(), parent));
  }
  const auto few = h.lineage(id, 5);
  CHECK(few.size() == 5);
  CHECK(few.back() == id);
  const auto main = h.main_line(id);
  CHECK(main.back() == id);
  CHECK(h.candidates()[main.front()].parents.empty());
  for (std::size_t i = 1; i < main.size(); ++i) {
    const auto& parents = h.candidates()[main[i]].parents;
    CHECK(std::find(parents.begin(), parents.end(), main[i - 1]) != parents.end());
  }
  CHECK(h.lineage(1000000).empty());
  CHECK(h.main_line(1000000).empty());
}

TEST_CASE("scores of a fitness function's own are told from speedups") {
  CHECK(history_of(synthetic::make(50)).scores_are_speedups());
  kevo::run_history h;
  const auto tell = [&](std::uint64_t at, kevo::evaluation e) {
    e.outcome = kevo::outcome::valid;
    h.consume({at, 1,
               kevo::evaluation_told{at,
                                     0,
                                     kevo::evaluation_stage::confirmed,
                                     std::make_shared<const kevo::evaluation>(std::move(e)),
                                     {}}});
  };
  h.consume({1, 0, kevo::seeded{0, {}}});
  // What command fitness functions said before scores were told apart: still read as it was written.
  tell(2, {.speedup = 1000, .speedup_interval = {1000, 1000}, .score = 1000});
  CHECK(h.scores_are_speedups());
  tell(3, {.score = 1001.5});
  CHECK_FALSE(h.scores_are_speedups());
  h.consume({4, 1, kevo::champion_crowned{0, 0, {}}});
  REQUIRE(h.crown_of(0) != nullptr);
  CHECK(h.crown_of(0)->score == 1001.5);
  CHECK(h.crown_of(0)->speedup == 0);
}

TEST_CASE("an unfinished, resumed and hostile record is taken as it is") {
  kevo::run_history h;
  CHECK_FALSE(h.best());
  h.consume({1, 0, kevo::seeded{0, {}}});
  h.consume({2, 1, kevo::evaluation_told{7, 0, kevo::evaluation_stage::timed_full, nullptr, {}}});
  h.consume({3, 1,
             kevo::evaluation_told{
                 8, 99, kevo::evaluation_stage::timed_full, std::make_shared<kevo::evaluation>(), {}}});
  h.consume({4, 1, kevo::variation_told{}});
  h.consume({5, 2, kevo::champion_crowned{55, 2, {}}});
  h.consume({6, 3, kevo::search_stopped{"seconds"}});
  CHECK(h.stopped_by() == "seconds");
  h.consume({7, 3, kevo::search_resumed{"more"}});
  CHECK_FALSE(h.stopped_by());
  CHECK(h.candidates().size() == 1);
  CHECK(h.lineage(0).size() == 1);
}

TEST_CASE("a candidate of an absurd number takes no memory") {
  kevo::run_history h;
  h.consume({1, 0, kevo::seeded{0, {}}});
  CHECK_THROWS_AS(h.consume({2, 0, kevo::seeded{4'000'000'000, {}}}), kevo::error);
  kevo::variation_told told{};
  told.program = kevo::content_id{};
  told.candidate = 4'000'000'000;
  CHECK_THROWS_AS(h.consume({2, 0, told}), kevo::error);
  CHECK(h.candidates().size() == 1);
}
