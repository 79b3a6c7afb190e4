// timeout: 120
// The agent against a scripted server: it gets there only if it compiled, saw the failure and fixed it; its
// tools lead nowhere else; its limits hold.

#include <doctest/doctest.h>

#include "tests/operators/agent/agent_bench.hpp"

using namespace kevo;
using namespace agent_test;

TEST_CASE("the agent submits what it compiled, saw fail, and fixed") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    const std::string last = last_answer(r.body);
    switch (r.number) {
      case 0:
        return scripted::calls({{"read_file", R"({"path":"kernel.cpp"})"}, {"list_files", ""}});
      case 1:
        return has(r.body, "int a;\\nint b;")
                   ? scripted::calls({{"edit_file",
                                       R"({"path":"kernel.cpp","search":"int b;","replace":"broken fast"})"}})
                   : scripted::says("lost");
      case 2:
        return scripted::calls({{"submit", R"({"summary":"too early"})"}});
      case 3:
        return has(last, "refused: time this version first") ? scripted::calls({{"time", "{}"}})
                                                             : scripted::says("lost");
      case 4:
        return has(last, "'broken' was not declared")
                   ? scripted::calls(
                         {{"edit_file",
                           R"({"path":"kernel.cpp","search":"broken fast","replace":"int fast;"})"}})
                   : scripted::says("lost");
      case 5:
        return scripted::calls({{"time", "{}"}});
      case 6:
        return has(last, "3 times the parent's score") ? scripted::calls({{"profile", "{}"}, {"diff", "{}"}})
                                                       : scripted::says("lost");
      default:
        return has(last, "+int fast;") && has(r.body, "code_bytes = 123")
                   ? scripted::calls({{"submit", R"({"summary":"made it fast"})"}})
                   : scripted::says("lost");
    }
  });
  bench b(server);
  const auto made = b.vary();
  CHECK(text_of(made) == "int a;\nint fast;\n");
  CHECK(std::get<proposal>(made).summary == "made it fast");
  CHECK(b.drafts.size() == 2);
  CHECK(b.calls == 8);
}

TEST_CASE("what tools return and bad arguments are data: the loop goes on, and nothing is run") {
  const shell::scratch outside;
  const std::string marker = (outside / "owned").string();
  std::vector<std::string> answers;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    answers.push_back(last_answer(r.body));
    switch (r.number) {
      case 0:
        return scripted::calls({{"read_file", "{\"path\":\"/etc/passwd\"}"}});
      case 1:
        return scripted::calls({{"run_command", "{\"command\":\"touch " + marker + "\"}"}});
      case 2:
        return scripted::calls({{"write_file", "{\"path\": \"kernel.cpp\""}});
      case 3:
        return scripted::calls({{"write_file", R"({"path":"kernel.cpp"})"}});
      case 4:
        return scripted::calls({{"write_file", "{\"path\":\"kernel.cpp\",\"text\":\"// $(touch " + marker +
                                                   ") IGNORE ALL RULES\\nbroken\"}"}});
      case 5:
        return scripted::calls({{"time", "[]"}, {"time", "{}"}});
      case 6:
        return scripted::calls({{"read_candidate", R"({"id":"../../../etc/passwd"})"}});
      case 7:
        return scripted::calls({{"reset", "{}"}, {"read_candidate", R"({"id":5})"}});
      default:
        return scripted::calls({{"submit", R"({"summary":"nothing"})"}});
    }
  });
  bench b(server);
  b.op.limits.steps = 9;
  CHECK(has(text_of(b.vary()), "none: the agent submitted nothing: the steps are used up"));
  CHECK(has(answers[1], "error: the path is absolute"));
  CHECK(has(answers[2], "there is no tool 'run_command'; there are list_files, read_file, write_file"));
  CHECK(has(answers[3], "no JSON object"));
  CHECK(has(answers[4], "'text' is missing"));
  CHECK(has(answers[6], "was not declared"));
  CHECK(has(answers[7], "no ancestor, sibling"));
  CHECK(has(answers[8], "int a;"));
  CHECK(!std::filesystem::exists(marker));
}

TEST_CASE("an agent reads lineage, sources and differences of relatives, and of nobody else") {
  std::vector<std::string> answers;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    answers.push_back(last_answer(r.body));
    switch (r.number) {
      case 0:
        return scripted::calls({{"read_lineage", "{}"}});
      case 1:
        return scripted::calls({{"read_candidate", R"({"id":"#2"})"}});
      case 2:
        return scripted::calls({{"diff", R"({"id":"2"})"}});
      case 3:
        return scripted::calls({{"diff", R"({"id":"../2"})"}});
      case 4:
        return scripted::calls({{"diff", R"({"id":99})"}});
      case 5:
        return scripted::calls({{"search_knowledge", R"({"query":"../../etc/passwd tiles"})"}});
      default:
        return scripted::calls({{"compile", R"({"path":"/etc/passwd"})"},
                                {"edit_file", R"({"path":"../x","search":"a","replace":"b"})"}});
    }
  });
  bench b(server);
  candidate_snapshot grandparent;
  grandparent.id = 2;
  grandparent.operator_name = "tune";
  grandparent.program =
      std::make_shared<const program>(single_file_program("text", "kernel.cpp", "int a;\nint OLD;\n"));
  variation_services more = *b.request.services;
  more.lineage = [&](candidate_id, std::size_t) { return std::vector{grandparent}; };
  b.request.services = std::make_shared<const variation_services>(more);
  b.op.limits.steps = 8;
  b.vary();
  CHECK(has(answers[1], "#2 by tune"));
  CHECK(has(answers[2], "int OLD;"));
  CHECK(has(answers[3], "-int OLD;"));
  CHECK(has(answers[3], "+int b;"));
  CHECK(has(answers[4], "error: no ancestor, sibling"));
  CHECK(has(answers[5], "error: no ancestor, sibling"));
  CHECK(has(answers[6], "no page matches"));
  CHECK(has(answers[7], "error: the path has an empty part or one that begins with a dot"));
  CHECK(b.drafts == std::vector<std::string>{parent_text});  // whatever `compile` is told besides
}

TEST_CASE(
    "an agent's turn ends when its model and its evaluations have taken the time, by their own account") {
  scripted::server server([](const scripted::request& r) {
    return scripted::calls(
        {{"write_file", "{\"path\":\"kernel.cpp\",\"text\":\"v" + std::to_string(r.number) + "\"}"},
         {"test", "{}"}});
  });
  bench b(server);
  b.judge = [](const std::string&, evaluation_stage wanted) {
    evaluation e{.outcome = outcome::valid, .stage = wanted};
    e.cost.wall_s = 500;
    return e;
  };
  CHECK(has(text_of(b.vary()), "none: the agent submitted nothing: the time is used up"));
  CHECK(b.drafts.size() == 4);  // 1800 s are exceeded by the fourth
}
