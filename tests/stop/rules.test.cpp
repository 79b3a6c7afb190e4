// links: core
#include <doctest/doctest.h>

#include <kevo/stop/after.hpp>
#include <kevo/stop/all_of.hpp>
#include <kevo/stop/any_of.hpp>
#include <kevo/stop/device_seconds.hpp>
#include <kevo/stop/evaluations.hpp>
#include <kevo/stop/money.hpp>
#include <kevo/stop/proposals.hpp>
#include <kevo/stop/saturation.hpp>
#include <kevo/stop/seconds.hpp>
#include <kevo/stop/sol_fraction.hpp>
#include <kevo/stop/spent.hpp>
#include <kevo/stop/stall.hpp>
#include <kevo/stop/target_score.hpp>
#include <kevo/stop/target_speedup.hpp>
#include <kevo/stop/tokens.hpp>

namespace stop = kevo::stop;
using kevo::progress;

TEST_CASE("every budget stops at its limit, not before, and says so") {
  progress now;
  const auto check = [&now](kevo::any_stop_rule rule, auto& quantity, auto half, auto before, auto limit,
                            const char* reason) {
    quantity = half;
    CHECK_FALSE(rule.stop(now));
    CHECK(rule.used(now) == doctest::Approx(0.5));
    quantity = before;
    CHECK_FALSE(rule.stop(now));
    quantity = limit;
    CHECK(rule.stop(now) == std::string(reason));
    CHECK(rule.used(now) == 1.0);
    quantity = limit + limit;
    CHECK(rule.stop(now).has_value());
    CHECK(rule.used(now) == 1.0);
    now = {};
  };
  check(stop::evaluations{400}, now.ledger.evaluations, 200U, 399U, 400U, "400 evaluations");
  check(stop::proposals{2}, now.ledger.proposals, 1U, 1U, 2U, "2 proposals");
  check(stop::seconds{2.5}, now.ledger.elapsed_s, 1.25, 2.4, 2.5, "2.5 seconds");
  check(stop::device_seconds{10}, now.ledger.evaluation.device_s, 5.0, 9.9, 10.0, "10 device seconds");
  check(stop::tokens{1000}, now.ledger.variation.tokens_out, 500, 999, 1000, "1000 tokens");
  check(stop::money{0.5}, now.ledger.variation.money, 0.25, 0.49, 0.5, "spent 0.5");
  check(stop::stall{150}, now.since_improvement, 75U, 149U, 150U, "150 evaluations without improvement");
}

TEST_CASE("budgets sum what they speak of") {
  progress now;
  now.ledger.variation.tokens_in = 6;
  now.ledger.variation.tokens_out = 4;
  CHECK(stop::tokens{10}.stop(now));
  now.ledger.variation.money = 1;
  now.ledger.evaluation.money = 1;
  CHECK(stop::money{2}.stop(now));
  now.ledger.confirmations = 100;
  CHECK_FALSE(stop::evaluations{1}.stop(now));
  CHECK(stop::evaluations{0}.stop(now));  // a budget of nothing stops at once
}

TEST_CASE("a target is reached by the whole interval, or by the median if one is content with that") {
  progress now;
  CHECK_FALSE(stop::target_speedup{0.5}.stop(now));  // no champion
  now.best_speedup = 3;
  now.best_interval = {2.5, 3.5};
  CHECK_FALSE(stop::target_speedup{3}.stop(now));
  CHECK(stop::target_speedup{.limit = 3, .certain = false}.stop(now) == std::string("speedup 3 of 3"));
  now.best_interval.low = 3;
  CHECK(stop::target_speedup{3}.stop(now));
  CHECK(stop::target_speedup{6}.used(now) == 0.5);
  // A score is no speedup, and a score that was seen is not confirmed yet.
  now = {};
  now.best_score = 1001.7;
  CHECK_FALSE(stop::target_score{1000}.stop(now));
  now.champion_score = 999;
  CHECK_FALSE(stop::target_score{1000}.stop(now));
  CHECK(stop::target_score{1998}.used(now) == 0.5);
  now.champion_score = 1001.7;
  CHECK(stop::target_score{1000}.stop(now) == std::string("score 1001.7 of 1000"));
  CHECK_FALSE(stop::target_speedup{1000}.stop(now));
}

TEST_CASE("the speed-of-light rule never stops a task without a cost model") {
  progress now;
  CHECK_FALSE(stop::sol_fraction{0}.stop(now));
  now.best_sol_fraction = 0.8;
  CHECK_FALSE(stop::sol_fraction{}.stop(now));
  CHECK(stop::sol_fraction{0.8}.stop(now));
}

TEST_CASE("rules combine") {
  progress now;
  stop::any_of any{{stop::evaluations{10}, stop::seconds{100}}};
  stop::all_of all{{stop::evaluations{10}, stop::seconds{100}}};
  kevo::any_stop_rule both = stop::any_of{{all, stop::stall{5}}};
  now.ledger.evaluations = 10;
  now.ledger.elapsed_s = 25;
  CHECK(any.stop(now) == std::string("10 evaluations"));
  CHECK(any.used(now) == 1.0);
  CHECK_FALSE(all.stop(now));
  CHECK(all.used(now) == 0.25);
  CHECK_FALSE(both.stop(now));
  now.since_improvement = 5;
  CHECK(both.stop(now) == std::string("5 evaluations without improvement"));
  now.ledger.elapsed_s = 100;
  CHECK(all.stop(now) == std::string("10 evaluations and 100 seconds"));
  CHECK_FALSE(stop::any_of{}.stop(now));
  CHECK_FALSE(stop::all_of{}.stop(now));
}

namespace {

struct third_call {  // a rule with a memory
  int calls = 0;
  std::optional<std::string> stop(const progress&) {
    if (++calls < 3) return std::nullopt;
    return "third";
  }
};

}  // namespace

TEST_CASE("every rule of a combination sees every progress, and a copy counts on its own") {
  kevo::any_stop_rule rule = stop::any_of{{stop::evaluations{5}, third_call{}}};
  progress now;
  now.ledger.evaluations = 5;
  CHECK(rule.stop(now) == std::string("5 evaluations"));
  CHECK(rule.stop(now));
  now = {};
  kevo::any_stop_rule copy = rule;
  CHECK(rule.stop(now) == std::string("third"));
  CHECK(copy.stop(now) == std::string("third"));
  CHECK_FALSE(rule.used(now) == 1.0);
}

TEST_CASE("every column of the ledger can be a budget") {
  progress now;
  now.ledger = {.proposals = 1,
                .duplicates = 10,
                .no_proposals = 20,
                .filtered = 25,
                .evaluations = 2,
                .confirmations = 30,
                .valid = 40,
                .variation = {.wall_s = 50, .tokens_in = 70, .tokens_out = 80},
                .evaluation = {.wall_s = 60}};
  const double reached[] = {10, 20, 25, 30, 40, 50, 60, 70, 80};
  for (std::size_t i = 0; i < stop::ledger_columns.size(); ++i) {
    const auto& column = stop::ledger_columns[i];
    CAPTURE(std::string(column.name));
    CHECK(stop::spent{column, reached[i]}.stop(now).has_value());
    CHECK_FALSE(stop::spent{column, reached[i] + 0.5}.stop(now).has_value());
    CHECK(stop::spent{column, 2 * reached[i]}.used(now) == doctest::Approx(0.5));
  }
  CHECK(stop::spent{stop::ledger_columns[0], 10}.stop(now) == std::string("10 duplicates"));
}

TEST_CASE("an archive is saturated when it keeps nothing any more, or is full") {
  progress now;
  now.since_kept = 49;
  CHECK_FALSE(stop::saturation{50}.stop(now));
  now.since_kept = 50;
  CHECK(stop::saturation{50}.stop(now) ==
        std::string("archive saturated: 50 evaluations without a kept candidate"));
  CHECK_FALSE(stop::coverage{0.1}.stop(now));  // not bounded
  CHECK_FALSE(stop::coverage{0.1}.used(now));
  now.archive_cells = 64;
  now.archive_size = 31;
  CHECK_FALSE(stop::coverage{0.5}.stop(now));
  now.archive_size = 32;
  CHECK(stop::coverage{0.5}.stop(now) == std::string("50 % of the cells of the archive occupied"));
}

TEST_CASE("after counts from the moment at which its first rule spoke") {
  kevo::any_stop_rule rule = stop::any_of{
      {stop::after(stop::target_speedup{2.0, false}, stop::evaluations{100}), stop::seconds{1000}}};
  progress now;
  const auto told = [&](std::uint64_t evaluations, double speedup) {
    now.ledger.evaluations = evaluations;
    now.best_speedup = speedup;
    rule.observe(now);
  };
  told(500, 1.5);
  CHECK_FALSE(rule.stop(now));
  now.best_speedup = 2.5;
  CHECK_FALSE(rule.stop(now));  // asking is not telling: a replay asks less often
  told(520, 2.5);
  CHECK(rule.used(now).value() == doctest::Approx(0.5));
  told(570, 1.9);  // the moment stays
  CHECK_FALSE(rule.stop(now));
  CHECK(rule.used(now).value() == doctest::Approx(0.75));
  told(619, 3);
  CHECK_FALSE(rule.stop(now));
  told(620, 3);
  CHECK(rule.stop(now) == std::string("100 evaluations after speedup 2.5 of 2"));

  stop::after late(stop::evaluations{100}, stop::stall{30});
  now = {};
  now.ledger.evaluations = 100;
  now.since_improvement = 90;
  late.observe(now);
  CHECK_FALSE(late.stop(now));  // what stalled before does not count
  now.ledger.evaluations = 130;
  now.since_improvement = 120;
  late.observe(now);
  CHECK(late.stop(now).has_value());
}

namespace {

struct half_done {  // a rule of somebody else's, without parts
  std::optional<std::string> stop(const progress&) { return std::nullopt; }
  std::optional<double> used(const progress&) const { return 0.5; }
};
struct silent_rule {
  std::optional<std::string> stop(const progress&) { return std::nullopt; }
};

}  // namespace

TEST_CASE("rules tell every limit by itself: its name, what is spent of it, and the limit") {
  progress now;
  now.ledger.evaluations = 100;
  now.ledger.elapsed_s = 30;
  now.ledger.variation = {.device_s = 2, .money = 0.5, .tokens_in = 40, .tokens_out = 2};
  now.ledger.proposals = 7;
  now.ledger.duplicates = 3;
  now.since_improvement = 11;
  now.since_kept = 12;
  now.best_speedup = 2;
  now.best_interval = {1.5, 2.5};
  now.best_sol_fraction = 0.25;
  now.champion_score = 6;
  now.archive_size = 8;
  now.archive_cells = 16;
  const kevo::any_stop_rule rule =
      stop::any_of{{stop::evaluations{400}, stop::seconds{120}, stop::device_seconds{8}, stop::money{2},
                    stop::tokens{84}, stop::proposals{14}, stop::stall{50}, stop::saturation{60},
                    stop::coverage{0.8}, stop::target_speedup{3}, stop::target_score{12},
                    stop::sol_fraction{0.5}, stop::spent{stop::ledger_columns[0], 30},
                    stop::all_of{{stop::evaluations{200}, stop::seconds{60}}}, half_done{}, silent_rule{}}};
  const auto parts = rule.parts(now);
  const kevo::stop_part expected[] = {{"evaluations", 100, 400}, {"seconds", 30, 120},
                                      {"device_seconds", 2, 8},  {"money", 0.5, 2},
                                      {"tokens", 42, 84},        {"proposals", 7, 14},
                                      {"stall", 11, 50},         {"saturation", 12, 60},
                                      {"coverage", 0.5, 0.8},    {"target_speedup", 1.5, 3},
                                      {"target_score", 6, 12},   {"sol_fraction", 0.25, 0.5},
                                      {"duplicates", 3, 30},     {"evaluations", 100, 200},
                                      {"seconds", 30, 60},       {"", 0.5, 1}};
  REQUIRE(parts.size() == std::size(expected));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CAPTURE(i);
    CHECK(parts[i].name == expected[i].name);
    CHECK(parts[i].spent == doctest::Approx(expected[i].spent));
    CHECK(parts[i].limit == doctest::Approx(expected[i].limit));
  }
  CHECK(parts[0].share() == 0.25);
  CHECK(kevo::stop_part{"evaluations", 9, 3}.share() == 1);
  now.archive_cells = 0;
  CHECK(rule.parts(now).size() == parts.size() - 1);  // no coverage of what is not bounded
  CHECK(kevo::any_stop_rule().parts(now).empty());
}

TEST_CASE("the parts of after are those of the rule that counts now, too, from its own start") {
  kevo::any_stop_rule rule = stop::after(stop::evaluations{100}, stop::seconds{60});
  progress now;
  now.ledger.evaluations = 50;
  now.ledger.elapsed_s = 200;
  rule.observe(now);
  REQUIRE(rule.parts(now).size() == 1);
  now.ledger.evaluations = 100;
  rule.observe(now);
  now.ledger.elapsed_s = 215;
  const auto parts = rule.parts(now);
  REQUIRE(parts.size() == 2);
  CHECK(parts[1].name == "seconds");
  CHECK(parts[1].spent == 15);
}
