// timeout: 120
// What an agent is told of its drafts, and which of them it may submit.

#include <doctest/doctest.h>

#include "tests/operators/agent/agent_bench.hpp"

using namespace kevo;
using namespace agent_test;

TEST_CASE("a submission that is slower is refused, and the best draft is proposed when the steps are over") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (r.number == 0)
      return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"}, {"time", "{}"}});
    if (r.number == 1)
      return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"slow\n"})"}, {"time", "{}"}});
    return has(last_answer(r.body), "refused") || r.number == 2
               ? scripted::calls({{"submit", R"({"summary":"s"})"}})
               : scripted::says("lost");
  });
  bench b(server);
  b.op.limits.steps = 4;
  const auto made = b.vary();
  CHECK(text_of(made) == "fast\n");
  CHECK(has(std::get<proposal>(made).summary, "best draft of an agent"));
}

TEST_CASE(
    "where the parent has EVOLVE-BLOCKs, a draft that changes anything else is neither judged nor accepted") {
  const std::string blocks = "int a;\n// EVOLVE-BLOCK-START\nint b;\n// EVOLVE-BLOCK-END\n";
  std::vector<std::string> answers;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    answers.push_back(last_answer(r.body));
    const auto edit = [](const std::string& search, const std::string& replace) {
      return std::pair<std::string, std::string>(
          "edit_file",
          "{\"path\":\"kernel.cpp\",\"search\":\"" + search + "\",\"replace\":\"" + replace + "\"}");
    };
    if (r.number == 0) return scripted::calls({edit("int a;", "fast"), {"time", "{}"}});
    if (r.number == 1) return scripted::calls({{"submit", R"({"summary":"all of it"})"}});
    if (r.number == 2)
      return scripted::calls({{"reset", "{}"},
                              {"write_file", R"({"path":"more.hpp","text":"fast"})"},
                              edit("int b;", "more.hpp"),
                              {"time", "{}"}});
    if (r.number == 3) return scripted::calls({{"reset", "{}"}, edit("int b;", "fast"), {"time", "{}"}});
    return scripted::calls({{"submit", R"({"summary":"the block"})"}});
  });
  bench b(server);
  auto parent = std::make_shared<candidate_snapshot>(*b.request.parents.front());
  parent->program = std::make_shared<const program>(single_file_program("text", "kernel.cpp", blocks));
  b.request.parents = {parent};
  CHECK(text_of(b.vary()) == "int a;\n// EVOLVE-BLOCK-START\nfast\n// EVOLVE-BLOCK-END\n");
  REQUIRE(answers.size() == 5);
  CHECK(has(answers[1], "error: Your program changes a line outside of the parent's blocks"));
  CHECK(has(answers[2], "refused: Your program changes a line"));
  CHECK(has(answers[3], "error: Your program adds, removes or renames a file"));
  CHECK(b.drafts.size() == 1);  // what lies outside costs no evaluation
}

TEST_CASE("compile, test and time are one fitness function that stops at three stages") {
  std::vector<std::string> answers;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    answers.push_back(last_answer(r.body));
    const auto write = [](const std::string& text) {
      return std::pair<std::string, std::string>("write_file",
                                                 "{\"path\":\"kernel.cpp\",\"text\":\"" + text + "\\n\"}");
    };
    switch (r.number) {
      case 0:
        return scripted::calls({write("broken"), {"compile", "{}"}});
      case 1:
        return scripted::calls({write("wrong fast"), {"compile", "{}"}});
      case 2:
        return scripted::calls({{"submit", R"({"summary":"untested"})"}});
      case 3:
        return scripted::calls({{"test", "{}"}});
      case 4:
        return scripted::calls({write("fast"), {"compile", "{}"}});
      case 5:
        return scripted::calls({{"test", "{}"}});
      case 6:
        return scripted::calls({{"profile", "{}"}});
      case 7:
        return scripted::calls({{"submit", R"({"summary":"untimed"})"}});
      case 8:
        return scripted::calls({{"time", "{}"}});
      case 9:  // nothing new can come of these: they are answered from memory
        return scripted::calls({{"compile", "{}"}, {"test", "{}"}});
      default:
        return scripted::calls({{"submit", R"({"summary":"fast"})"}});
    }
  });
  bench b(server);
  b.op.limits.repeated = 10;
  CHECK(text_of(b.vary()) == "fast\n");
  using stage = evaluation_stage;
  CHECK(b.stages == std::vector{stage::built, stage::built, stage::checked, stage::built, stage::checked,
                                stage::timed_full});
  CHECK(has(answers[1], "'broken' was not declared"));
  CHECK(has(answers[2], "It compiles. It was not tested."));
  CHECK(!has(answers[2], "times as fast"));
  CHECK(has(answers[3], "refused: time this version first"));
  CHECK(has(answers[4], "differs at [3]"));
  CHECK(has(answers[6], "Its results are right. It was not timed."));
  CHECK(has(answers[7], "code_bytes = 123"));
  CHECK(has(answers[7], "40 registers, 0 bytes spilled"));
  CHECK(has(answers[8], "refused: time this version first"));
  CHECK(has(answers[9], "3 times the parent's score"));
  CHECK(has(answers[10], "This is the same program as before."));
}

TEST_CASE("an agent proposes its best draft when the run ends") {
  std::stop_source ending;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (r.number == 0)
      return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"}, {"time", "{}"}});
    ending.request_stop();
    return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"slow\n"})"}});
  });
  bench b(server);
  b.request.ending = ending.get_token();
  const auto made = b.vary();
  CHECK(text_of(made) == "fast\n");
  CHECK(has(b.notes, "the turn ends: the run is ending"));
  CHECK(server.requests() == 2);
}

TEST_CASE("the plan of an agent's best draft is what its model said, not why the turn ended") {
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (r.number > 0) return {.status = 400, .body = R"({"error":{"message":"who are you"}})"};
    auto answer =
        scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"}, {"time", "{}"}});
    answer.body.replace(answer.body.find("\"content\":null"), 14,
                        "\"content\":\"I unroll the loop by four.\"");
    return answer;
  });
  bench b(server);
  const auto made = b.vary();
  CHECK(text_of(made) == "fast\n");
  CHECK(std::get<proposal>(made).summary == "I unroll the loop by four. (best draft of an agent)");
  CHECK(has(b.notes, "the turn ends: the model failed: the server answered 400: who are you"));
}

TEST_CASE("an agent that submits a slower draft than its best is told, and may choose") {
  const auto turn = [](const std::string& second) {
    std::string answered;
    scripted::server server([&](const scripted::request& r) -> scripted::answer {
      if (r.number == 0)
        return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"},
                                {"time", "{}"},
                                {"write_file", R"({"path":"kernel.cpp","text":"same\n"})"},
                                {"time", "{}"},
                                {"submit", R"({"summary":"the second"})"}});
      if (answered.empty()) answered = last_answer(r.body);
      return scripted::calls({{"submit", second}});
    });
    bench b(server);
    b.op.limits.steps = 3;
    const std::string made = text_of(b.vary());
    CHECK(has(answered,
              "not accepted: draft 1 was faster (valid, 3 times as fast as seed; this one: valid, 1 times as "
              "fast"));
    return made;
  };
  CHECK(turn(R"({"summary":"the first","draft":1})") == "fast\n");
  CHECK(turn(R"({"summary":"the second","force":true})") == "same\n");
  CHECK(turn(R"({"summary":"the second"})") == "fast\n");  // the steps are used up
}

TEST_CASE("an agent is told of a draft's interval, and how it compares with its best draft") {
  std::string answered;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    const auto write = [](const std::string& text) {
      return std::pair<std::string, std::string>("write_file",
                                                 "{\"path\":\"kernel.cpp\",\"text\":\"" + text + "\\n\"}");
    };
    if (r.number == 0) return scripted::calls({write("fast"), {"time", "{}"}});
    if (r.number == 1) return scripted::calls({write("faster fast"), {"time", "{}"}});
    answered = last_answer(r.body);
    return scripted::calls({{"submit", R"({"summary":"s"})"}});
  });
  bench b(server);
  b.judge = [plain = b.judge](const std::string& text, evaluation_stage wanted) {
    evaluation e = plain(text, wanted);
    if (has(text, "faster")) e.score = e.speedup = 3.27;
    e.speedup_interval = {0.99 * e.speedup, 1.01 * e.speedup};
    return e;
  };
  CHECK(text_of(b.vary()) == "faster fast\n");
  CHECK(has(answered, "Draft 2."));
  CHECK(has(answered, "valid, 3.27 times as fast as seed [3.24, 3.3]"));
  CHECK(has(answered, "That is 1.09 times the score of your best draft before it, draft 1."));
}
