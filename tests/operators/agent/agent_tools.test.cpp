// timeout: 120
// Tools of an agent beside evaluations: those that the fitness function offers, comparisons, and searches.

#include <doctest/doctest.h>

#include "operators/agent/agent_folder.hpp"
#include "operators/agent/long_conversation.hpp"
#include "operators/agent/tools.hpp"
#include "tests/operators/agent/agent_bench.hpp"

using namespace kevo;
using namespace agent_test;

namespace {

/// Tools that say what they were asked, and count it.
std::shared_ptr<draft_tools> counting_tools(int& runs) {
  auto made = std::make_shared<draft_tools>();
  made->run = [&runs](const program& source, bool counters, const std::stop_token&) {
    ++runs;
    std::string all = counters ? "COUNTED" : "RAN";
    for (const auto& file : source.files) all += " " + file.path;
    return all;
  };
  made->assembly = [&runs](const program& draft, const std::string& function, const std::stop_token&) {
    ++runs;
    return "LOOPS of " + std::string(draft.text()) + " in " + function;
  };
  return made;
}

/// The names of the tools that a request offers.
bool offers(const std::string& body, const std::string& name) {
  return has(body, "\"name\":\"" + name + "\",\"description\"");
}

}  // namespace

TEST_CASE(
    "an agent runs programs of its own and looks at machine code, where the fitness function has that") {
  std::vector<std::string> answers;
  bool offered = false;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    answers.push_back(last_answer(r.body));
    offered = offers(r.body, "run") && offers(r.body, "assembly");
    switch (r.number) {
      case 0:
        return scripted::calls({{"write_file", R"({"path":"try.cpp","text":"int main() {}\n"})"},
                                {"run", R"({"path":"try.cpp"})"}});
      case 1:
        return scripted::calls({{"run", R"({"path":"try.cpp","counters":true})"}});
      case 2:
        return scripted::calls({{"run", R"({"path":"../try.cpp"})"}});
      case 3:
        return scripted::calls({{"assembly", R"({"function":"run"})"}});
      case 4:
        return scripted::calls({{"run", R"({"path":"try.cpp"})"}});
      default:
        return scripted::says("done");
    }
  });
  bench b(server);
  int runs = 0;
  SUBCASE("with tools") {
    b.op.tools = counting_tools(runs);
    b.op.limits.steps = 6;
    b.op.limits.runs = 3;
    b.vary();
    CHECK(offered);
    CHECK(has(answers.at(1), "RAN try.cpp kernel.cpp"));
    CHECK(has(answers.at(2), "COUNTED try.cpp kernel.cpp"));
    CHECK(has(answers.at(3), "error: there is no file '../try.cpp'"));
    CHECK(has(answers.at(4), "LOOPS of int a;\\nint b;\\n in run"));
    CHECK(has(answers.at(5), "error: the runs of this turn are used up"));
    CHECK(runs == 3);
    CHECK(b.drafts.empty());  // none of it is an evaluation
  }
  SUBCASE("without") {
    b.op.tools = std::make_shared<draft_tools>();  // of a fitness function that has none
    b.op.limits.steps = 2;
    b.vary();
    CHECK(!offered);
    CHECK(has(answers.at(1), "error: there is no tool 'run'; there are list_files"));
  }
}

TEST_CASE("a turn that is repeated is given what its tools answered then, and runs nothing again") {
  std::vector<model_call> calls;
  std::string last;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    last = r.body;
    switch (r.number) {
      case 0:
        return scripted::calls({{"write_file", R"({"path":"try.cpp","text":"int main() {}\n"})"},
                                {"run", R"({"path":"try.cpp"})"}});
      case 1:
        return scripted::calls({{"assembly", "{}"}});
      case 2:
        return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"}, {"time", "{}"}});
      default:
        return scripted::calls({{"submit", R"({"summary":"s"})"}});
    }
  });
  bench b(server);
  int runs = 0;
  b.op.tools = counting_tools(runs);
  auto services = *b.request.services;
  services.record = [&](const model_call& call) { calls.push_back(call); };
  b.request.services = std::make_shared<const variation_services>(std::move(services));
  b.request.job = 7;
  CHECK(text_of(b.vary()) == "fast\n");
  CHECK(runs == 2);
  REQUIRE(calls.size() == 4);
  b.op.with.models->recall(7, calls, true);
  b.notes.clear();
  CHECK(text_of(b.vary()) == "fast\n");
  CHECK(runs == 2);
  CHECK(server.requests() == 4);
  CHECK(!has(b.notes, "differs from the recorded one"));  // every request is the same again
}

TEST_CASE("the answer of a tool is found in a recorded request by the id of its call, the latest first") {
  const std::string messages =
      R"([{"role":"tool","tool_call_id":"c1","content":"old"},{"role":"user","content":"x"},)"
      R"({"role":"tool","tool_call_id":"c1","content":"new"},{"role":"tool","tool_call_id":"c2","content":null}])";
  CHECK(answer_in(messages, "c1") == "new");
  CHECK(!answer_in(messages, "c2"));
  CHECK(!answer_in(messages, ""));
  CHECK(!answer_in("no JSON", "c1"));
  CHECK(!answer_in("{}", "c1"));
}

TEST_CASE("two drafts are compared by workload, with an interval that follows from their pairs") {
  std::vector<std::string> answers;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    answers.push_back(last_answer(r.body));
    const auto write = [](const std::string& text) {
      return std::pair<std::string, std::string>("write_file",
                                                 "{\"path\":\"kernel.cpp\",\"text\":\"" + text + "\\n\"}");
    };
    switch (r.number) {
      case 0:
        return scripted::calls({write("fast"), {"time", "{}"}, write("slow"), {"time", "{}"}});
      case 1:
        return scripted::calls({{"compare", R"({"draft":1,"with":2})"}});
      case 2:
        return scripted::calls({{"compare", R"({"draft":2,"with":"1"})"}});
      case 3:
        return scripted::calls({{"compare", R"({"draft":"1"})"}});
      case 4:
        return scripted::calls({{"compare", R"({"draft":"3","with":"1"})"}});
      default:
        return scripted::says("done");
    }
  });
  bench b(server);
  b.op.limits.steps = 6;
  b.judge = [plain = b.judge](const std::string& text, evaluation_stage wanted) {
    evaluation e = plain(text, wanted);
    const double times = has(text, "fast") ? 3 : 1.5;
    workload_result large{.uuid = "large", .axes = {}, .outcome = outcome::valid};
    large.time_ns = 1000 / times;
    large.speedup = times;
    for (int i = 0; i < 24; ++i) {
      const double noise = 1 + 0.002 * (i % 3 - 1);
      large.samples.push_back({1000 / times * noise, 1000});
    }
    workload_result secret = large;
    secret.uuid = "SECRET";
    secret.hidden = true;
    e.workloads = {large, secret};
    return e;
  };
  auto parent = std::make_shared<candidate_snapshot>(*b.request.parents.front());
  parent->evaluation = nullptr;
  b.request.parents = {parent};
  b.vary();
  REQUIRE(answers.size() == 6);
  CHECK_MESSAGE(has(answers[2], "draft 1 is 2 [1.9"), answers[2]);
  CHECK_MESSAGE(has(answers[2], "times as fast as draft 2: faster."), answers[2]);
  CHECK_MESSAGE(has(answers[2], "large: 2 [1.9"), answers[2]);
  CHECK(!has(answers[2], "SECRET"));
  CHECK_MESSAGE(has(answers[3], "draft 2 is 0.5 [0.49"), answers[3]);
  CHECK_MESSAGE(has(answers[3], "slower"), answers[3]);
  CHECK_MESSAGE(has(answers[4], "error: the parent was not timed"), answers[4]);
  CHECK_MESSAGE(has(answers[5], "error: draft 3 was not timed"), answers[5]);
}

TEST_CASE("grep finds the lines of the scratch folder") {
  agent_folder folder(single_file_program("cpp", "kernel.cpp", "int a;\nfloat b;\n  int c;"));
  CHECK(folder.write("more.hpp", "int d;\n").empty());
  CHECK(folder.grep("int", "") == "kernel.cpp:1: int a;\nkernel.cpp:3:   int c;\nmore.hpp:1: int d;\n");
  CHECK(folder.grep("int", "more.hpp") == "more.hpp:1: int d;\n");
  CHECK(folder.grep("int", "/etc/passwd").empty());
  CHECK(folder.grep("", "more.hpp") == "more.hpp:1: int d;\n");
}
