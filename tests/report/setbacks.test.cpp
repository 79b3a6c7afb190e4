// What a run says of itself when it came to little.
#include "src/report/setbacks.hpp"

#include <string>

#include <doctest/doctest.h>

#include <kevo/program.hpp>

namespace {

using namespace kevo;

event at(decltype(event::payload) what) {
  return {.sequence = 0, .time_s = 1, .payload = std::move(what)};
}

evaluation_told seed_told(outcome how, const std::string& feedback) {
  auto e = std::make_shared<evaluation>();
  e->outcome = how;
  e->feedback = feedback;
  e->score = how == outcome::valid ? 1 : 0;
  return {.job = 1, .candidate = 0, .wanted = evaluation_stage::timed_full, .result = e};
}

report_content with_turns(int turns, int without, const std::string& why) {
  report_content content;
  content.operator_names = {"llm_diff"};
  content.folder = "runs/x";
  content.history.consume(
      at(seeded{.candidate = 0, .program = id_of(single_file_program("cpp", "a.cpp", "a"))}));
  for (int i = 0; i < turns; ++i) {
    const auto job = static_cast<ticket>(10 + i);
    content.history.consume(at(variation_asked{.job = job, .selection = {}, .op = 0}));
    variation_told told{.job = job};
    if (i < without) {
      told.summary = why;
    } else {
      told.program = id_of(single_file_program("cpp", "a.cpp", std::to_string(i)));
      told.candidate = static_cast<candidate_id>(1 + i - without);
    }
    content.history.consume(at(told));
  }
  return content;
}

}  // namespace

TEST_CASE("seeds that do not pass are named while nothing is valid") {
  auto content = with_turns(0, 0, "");
  content.history.consume(at(seed_told(outcome::build_failed, "kernel.cpp:3: no such thing\nmore lines")));
  const auto all = setbacks_of(content);
  REQUIRE(all.size() == 1);
  CHECK(all.front() == "seed 0: build_failed: kernel.cpp:3: no such thing (`kevo show runs/x 0` says more)");
  content.history.consume(at(seed_told(outcome::valid, "")));
  CHECK(setbacks_of(content).empty());
}

TEST_CASE("a seed without feedback is explained by its reasons") {
  auto content = with_turns(0, 0, "");
  auto told = seed_told(outcome::rejected, "");
  auto e = std::make_shared<evaluation>(*told.result);
  e->reasons = {"forbidden system call", "and more"};
  told.result = e;
  content.history.consume(at(told));
  REQUIRE(setbacks_of(content).size() == 1);
  CHECK(setbacks_of(content).front() ==
        "seed 0: rejected: forbidden system call; and more (`kevo show runs/x 0` says more)");
}

TEST_CASE("an operator whose turns all came to nothing says why the last did") {
  const auto all = setbacks_of(with_turns(7, 7, "model: rejected: the server answered 401\nbody"));
  REQUIRE(all.size() == 1);
  CHECK(all.front() ==
        "llm_diff: none of its 7 turns gave a program; the last: model: rejected: the server answered 401");
}

TEST_CASE("a long reason is cut between characters") {
  std::string why;
  for (int i = 0; i < 200; ++i) why += "é";
  for (const char* before : {"", "x"}) {
    const auto all = setbacks_of(with_turns(3, 3, before + why));
    REQUIRE(all.size() == 1);
    const std::string& said = all.front();
    CHECK(said.size() < 400);
    REQUIRE(said.ends_with("é..."));
  }
}

TEST_CASE("a few failed turns are no setback, nor is one program enough to hide behind") {
  CHECK(setbacks_of(with_turns(2, 2, "why")).empty());
  CHECK(setbacks_of(with_turns(7, 6, "why")).empty());
}

TEST_CASE("a language model that fails is told of after one turn") {
  const auto all = setbacks_of(with_turns(1, 1, "model: disconnected: cannot connect to 127.0.0.1:9"));
  REQUIRE(all.size() == 1);
  CHECK(all.front() ==
        "llm_diff: its only turn gave no program: model: disconnected: cannot connect to 127.0.0.1:9");
  CHECK(setbacks_of(with_turns(1, 1, "model: cancelled: cancelled")).empty());
}

TEST_CASE("a language model that fails after it had worked is told of after three turns") {
  const auto failing = [](int turns, const std::string& why) {
    auto content = with_turns(4, 0, "");
    for (int i = 0; i < turns; ++i) {
      const auto job = static_cast<ticket>(100 + i);
      content.history.consume(at(variation_asked{.job = job, .selection = {}, .op = 0}));
      variation_told told{.job = job};
      told.summary = why;
      content.history.consume(at(told));
    }
    return setbacks_of(content);
  };
  const auto all = failing(3, "model: server_error: the server answered 500");
  REQUIRE(all.size() == 1);
  CHECK(all.front() ==
        "llm_diff: its last 3 turns gave no program; the last: model: server_error: the server answered 500");
  CHECK(failing(2, "model: server_error: the server answered 500").empty());
  CHECK(failing(9, "the same program").empty());
}

TEST_CASE("a seed's reason is told before what the compiler printed around it") {
  auto content = with_turns(0, 0, "");
  auto told = seed_told(outcome::build_failed, "In file included from a.hpp:1,\n   from seed.cpp:1:\n");
  auto e = std::make_shared<evaluation>(*told.result);
  e->reasons = {"b.hpp:7: error: 'x' was not declared"};
  told.result = e;
  content.history.consume(at(told));
  REQUIRE(setbacks_of(content).size() == 1);
  CHECK(setbacks_of(content).front().find("error: 'x' was not declared") != std::string::npos);

  e->reasons = {"the program ended with exit code 1"};
  e->feedback = "Traceback (most recent call last):\n  File \"judge.py\", line 2\nKeyError: 'N'\n";
  content.history.consume(at(told));
  CHECK(setbacks_of(content).front() ==
        "seed 0: build_failed: the program ended with exit code 1: KeyError: 'N' (`kevo show runs/x 0` says "
        "more)");

  e->reasons.clear();
  e->feedback.clear();
  content.history.consume(at(told));
  CHECK(setbacks_of(content).front().find("the fitness function gave no reason") != std::string::npos);
}

TEST_CASE("a program whose interval lies above that of the champion is told of, if it was confirmed") {
  auto content = with_turns(3, 0, "");
  const auto tell = [&](candidate_id who, double speedup, interval range, evaluation_stage stage) {
    auto told = seed_told(outcome::valid, "");
    auto e = std::make_shared<evaluation>(*told.result);
    e->speedup = e->score = speedup;
    e->speedup_interval = range;
    e->stage = stage;
    told.candidate = who;
    told.result = e;
    content.history.consume(at(told));
  };
  const auto confirmed = evaluation_stage::confirmed;
  tell(1, 1.2, {1.19, 1.21}, confirmed);
  tell(2, 1.3, {1.29, 1.31}, confirmed);
  CHECK(setbacks_of(content).empty());  // there is no champion
  content.history.consume(at(champion_crowned{1, 1.2, {1.19, 1.21}, {}}));
  REQUIRE(setbacks_of(content).size() == 1);
  CHECK(
      setbacks_of(content).front() ==
      "a better program is undecided: #2 reached 1.300x [1.290 - 1.310] in its latest confirmation, and that "
      "interval lies above the champion's");
  CHECK(content.history.better_undecided() == 2);

  tell(2, 1.25, {1.205, 1.3}, confirmed);  // the intervals overlap
  CHECK(setbacks_of(content).empty());
  tell(2, 1.3, {1.29, 1.31}, evaluation_stage::timed_full);  // was not measured again
  CHECK(setbacks_of(content).empty());
  tell(2, 1.3, {1.29, 1.31}, confirmed);
  tell(3, 1.3, {1.28, 1.32}, confirmed);
  CHECK(content.history.better_undecided() == 2);
  content.history.consume(at(baseline_met{2, "seed"}));  // can never be champion
  CHECK(content.history.better_undecided() == 3);
  content.history.consume(at(champion_crowned{3, 1.3, {1.28, 1.32}, {}}));
  CHECK(setbacks_of(content).empty());
}
