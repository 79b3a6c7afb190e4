// timeout: 120
// When an agent stands still: reviews by its supervisor, and notes for its next turn.

#include <doctest/doctest.h>

#include "tests/operators/agent/agent_bench.hpp"

using namespace kevo;
using namespace agent_test;

TEST_CASE(
    "a supervisor proposes directions to an agent that stands still, and ends its turn if that does not "
    "help") {
  std::size_t reviews = 0;
  bool heard = false;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (has(r.body, "You review the work of an agent")) {
      ++reviews;
      return scripted::says("Try DIRECTION_" + std::to_string(reviews));
    }
    heard = heard || has(r.body, "DIRECTION_1");
    return scripted::calls(
        {{"write_file", "{\"path\":\"kernel.cpp\",\"text\":\"broken " + std::to_string(r.number) + "\"}"},
         {"time", "{}"}});
  });
  bench b(server);
  b.op.limits.failing = 2;
  b.op.limits.interventions = 2;
  CHECK(has(text_of(b.vary()), "none: the agent submitted nothing: it made no progress"));
  CHECK(reviews == 2);
  CHECK(heard);
  CHECK(b.drafts.size() == 6);
  CHECK(has(b.notes, "[supervisor] 2 evaluations in a row were not valid"));
}

TEST_CASE("a supervisor sees the drafts of a turn in the order in which they were tried") {
  std::string seen;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (has(r.body, "You review the work of an agent")) {
      seen = r.body;
      return scripted::says("Go on.");
    }
    const std::vector<std::string> drafts = {"wrong", "slow", "broken", "slow"};
    return scripted::calls(
        {{"write_file", "{\"path\":\"kernel.cpp\",\"text\":\"" + drafts.at(r.number % 4) + "\"}"},
         {"time", "{}"}});
  });
  bench b(server);
  b.op.limits.stalled = 3;
  b.op.limits.steps = 4;
  b.vary();
  const char* lines[] = {"1. incorrect: output Y differs at [3]: 1 instead of 2\\n",
                         "2. valid, 0.5 times as fast as seed\\n",
                         "3. build_failed: kernel.cpp:1: error: 'broken' was not declared\\n"};
  for (std::size_t at = 0; const char* line : lines) {
    CHECK_MESSAGE(seen.find(line, at) != std::string::npos, line << " in " << seen);
    at = std::min(seen.find(line), seen.size());
  }
  CHECK(!has(seen, "4. "));  // what was tried before is listed once
}

TEST_CASE("notes of a turn are read in the next, and a supervisor reviews turns that bring nothing") {
  std::vector<std::string> begins;   // first requests of turns
  std::vector<std::string> reviews;  // requests to the supervisor
  std::size_t asked = 0;
  bool notes_fail = false;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (has(r.body, "You review the work of an agent")) {
      reviews.push_back(r.body);
      return scripted::says("DIRECTION_A");
    }
    if (has(r.body, "Your turn ends here")) {
      ++asked;
      CHECK(has(r.body, "At most 80 characters"));
      if (notes_fail) return {.status = 500};
      return scripted::says("Here they are. <notes>NOTE_" + std::to_string(asked) + " " +
                            std::string(200, 'x') + "</notes> done");
    }
    begins.push_back(r.body);
    return scripted::says("nothing to do");
  });
  bench b(server);
  b.op.limits.steps = 1;
  b.op.limits.fruitless_turns = 2;
  b.op.notes_bytes = 80;
  const auto turn = [&] { CHECK(has(text_of(b.vary()), "none: the agent submitted nothing")); };
  turn();
  CHECK_FALSE(has(begins.at(0), "earlier turns"));
  turn();
  CHECK(has(begins.at(1), "## Notes of the agent's earlier turns"));
  CHECK(has(begins.at(1), "NOTE_1 xxxx"));
  CHECK_FALSE(has(begins.at(1), "done"));
  CHECK_FALSE(has(begins.at(1), std::string(81, 'x')));
  CHECK(reviews.empty());
  notes_fail = true;
  turn();
  REQUIRE(reviews.size() == 1);
  CHECK(has(reviews.at(0), "2 turns in a row submitted nothing"));
  CHECK(has(reviews.at(0), "NOTE_2"));
  CHECK(has(begins.at(2), "A review of your work: 2 turns in a row submitted nothing. It proposes:"));
  CHECK(has(begins.at(2), "DIRECTION_A"));
  turn();
  CHECK(has(begins.at(3), "NOTE_2"));  // those that could not be written replace nothing
  CHECK(asked == 4);

  SUBCASE("a copy of the operator shares the notes, another operator has its own") {
    const agent copy = b.op;
    rng random(1);
    copy.vary(b.request, random);
    CHECK(has(begins.at(4), "NOTE_2"));
    b.op.notes = std::make_shared<agent_notes>();
    b.vary();
    CHECK_FALSE(has(begins.at(5), "NOTE_"));
  }
  SUBCASE("a turn that is canceled writes none") {
    std::stop_source source;
    source.request_stop();
    b.request.stop = source.get_token();
    b.vary();
    CHECK(asked == 4);
  }
}

TEST_CASE(
    "compiling, testing and timing one draft is no repetition, also without stages; the same tool again is") {
  const auto notes_of = [](const std::vector<std::string>& tools) {
    scripted::server server([&](const scripted::request& r) -> scripted::answer {
      if (has(r.body, "You review the work of an agent")) return scripted::says("Try something else");
      if (r.number == 0) return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"}});
      if (r.number <= tools.size()) return scripted::calls({{tools[r.number - 1], "{}"}});
      return scripted::calls({{"submit", R"({"summary":"fast"})"}});
    });
    bench b(server);
    b.judge = [stages = b.judge](const std::string& text, evaluation_stage) {
      return stages(text, evaluation_stage::timed_full);  // a fitness function that does all of it each time
    };
    auto services = *b.request.services;
    services.evaluate_until = [&b](const program& p, evaluation_stage wanted) {
      return b.judge(std::string(p.text()), wanted);
    };
    b.request.services = std::make_shared<const variation_services>(std::move(services));
    CHECK(text_of(b.vary()) == "fast\n");
    return b.notes;
  };
  CHECK(!has(notes_of({"compile", "test", "time"}), "[supervisor]"));
  CHECK(
      has(notes_of({"time", "time", "time"}), "[supervisor] one program was given to the same tool 3 times"));
}

TEST_CASE("a passing test ends a row of failures, a build does not") {
  const auto notes_of = [](const std::string& between) {
    scripted::server server([&](const scripted::request& r) -> scripted::answer {
      const std::string text = r.number == 1 ? "int right;" : "broken " + std::to_string(r.number);
      const std::string how = r.number == 1 ? between : "time";
      if (r.number > 2) return scripted::says("done");
      return scripted::calls(
          {{"write_file", R"({"path":"kernel.cpp","text":")" + text + R"("})"}, {how, "{}"}});
    });
    bench b(server);
    b.op.limits.failing = 2;
    b.op.limits.steps = 3;
    b.vary();
    return b.notes;
  };
  CHECK(!has(notes_of("test"), "[supervisor]"));
  CHECK(has(notes_of("compile"), "[supervisor] 2 evaluations in a row were not valid"));
}
