// timeout: 120
// Replies that are cut, and conversations that outgrow the context of a model.

#include <doctest/doctest.h>

#include "tests/operators/agent/agent_bench.hpp"

using namespace kevo;
using namespace agent_test;

TEST_CASE("a reply that is cut ends no turn: the agent is told, and goes on") {
  bool told = false;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (r.number == 0)
      return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"}, {"time", "{}"}});
    if (r.number == 1) {  // reasoning used up the tokens in the middle of a call
      auto cut = scripted::calls({{"write_file", R"({"path":"half.cpp","te)"}});
      cut.body.replace(cut.body.find("\"finish_reason\":\"tool_calls\""), 28, "\"finish_reason\":\"length\"");
      return cut;
    }
    told = has(r.body, "Your last reply was cut: a reply has at most 32768 tokens");
    CHECK(!has(r.body, "half.cpp"));  // a call that was cut has no answer, so that a server would refuse it
    return scripted::calls({{"submit", R"({"summary":"fast"})"}});
  });
  bench b(server);
  const auto made = b.vary();
  CHECK(text_of(made) == "fast\n");
  CHECK(std::get<proposal>(made).summary == "fast");
  CHECK(told);
}

TEST_CASE("an agent whose replies are all cut ends its turn with its notes and its best draft") {
  std::size_t cut = 0;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (has(r.body, "Your turn ends here")) return scripted::says("<notes>NOTE_A</notes>");
    if (r.number == 0)
      return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"}, {"time", "{}"}});
    ++cut;
    return scripted::says("Let me think", 10, 20, "length");
  });
  bench b(server);
  b.op.notes_bytes = 80;
  CHECK(text_of(b.vary()) == "fast\n");
  CHECK(cut == 3);
  CHECK(b.op.notes->text == "NOTE_A");
}

TEST_CASE("tokens that a server has in its cache do not count against an agent's limit") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    auto answer = r.number < 6 ? scripted::calls({{"list_files", "{}"}}, 1000, 10)
                               : scripted::calls({{"submit", R"({"summary":"s"})"}}, 1000, 10);
    const std::string usage = "\"completion_tokens\":10";
    answer.body.replace(answer.body.find(usage), usage.size(),
                        usage + ",\"prompt_tokens_details\":{\"cached_tokens\":900}");
    return answer;
  });
  bench b(server);
  b.op.limits.steps = 6;
  b.op.limits.tokens = 1000;
  CHECK(has(text_of(b.vary()), "the steps are used up"));
}

namespace {

/// A server whose model reads and writes at most `context` tokens, in the words of vLLM; a token has four
/// bytes.
scripted::answer within(std::size_t context, const scripted::request& r,
                        const std::function<scripted::answer()>& answer) {
  const auto at = r.body.find("\"max_tokens\":");
  const std::size_t reply = std::stoul(r.body.substr(at + 13));
  const std::size_t prompt = r.body.size() / 4;
  if (prompt + reply <= context) {
    auto made = answer();
    const std::string usage = "\"prompt_tokens\":100";
    made.body.replace(made.body.find(usage), usage.size(), "\"prompt_tokens\":" + std::to_string(prompt));
    return made;
  }
  return {.status = 400,
          .body = "{\"error\":{\"message\":\"This model's maximum context length is " +
                  std::to_string(context) + " tokens. However, you requested " +
                  std::to_string(prompt + reply) + " tokens.\"}}"};
}

}  // namespace

TEST_CASE("an agent works on when its conversation has become longer than its model's context") {
  std::size_t refused = 0;
  std::size_t summaries = 0;
  std::size_t steps = 0;
  std::string last;
  bool lines = false;  // whether old results are a line
  scripted::server server([&](const scripted::request& r) {
    lines = lines || has(r.body, "\"content\":\"draft 2: valid, 1 times as fast as seed\"");
    auto answer = within(16000, r, [&]() -> scripted::answer {
      last = r.body;
      if (has(r.body, "Your turn ends here")) return scripted::says("<notes>LAST_NOTES</notes>");
      if (has(r.body, "This conversation has become too long")) {
        ++summaries;
        return scripted::says("<notes>NOTES_" + std::to_string(summaries) + "</notes>");
      }
      ++steps;
      const std::string what = steps == 7 ? "fast" : "v" + std::to_string(steps);
      return scripted::calls(
          {{"write_file", R"({"path":"kernel.cpp","text":")" + what + " " + std::string(3000, 'x') + "\"}"},
           {"time", "{}"}});
    });
    refused += answer.status == 400 ? 1U : 0U;
    return answer;
  });
  bench b(server);
  b.op.limits.steps = 200;
  b.op.limits.evaluations = 1000;
  b.op.limits.stalled = 1000;
  b.op.limits.tokens = 100'000'000;
  b.op.notes_bytes = 4000;
  const auto made = b.vary();
  CHECK(has(text_of(made), "fast xxx"));
  CHECK(std::get<proposal>(made).summary == "draft 7 of its turn (best draft of an agent)");
  CHECK(steps >= 199);
  CHECK(refused >= 1);  // the first, by which the limit is learned
  CHECK(refused <= 4);
  CHECK(summaries >= 1);
  CHECK(b.op.notes->text == "LAST_NOTES");
  CHECK(b.op.notes->context == 16000);
  CHECK(lines);
  CHECK(has(last, "NOTES_" + std::to_string(summaries)));
}

TEST_CASE("notes that were written before a conversation began anew stay if the turn fails") {
  std::size_t calls = 0;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (has(r.body, "This conversation has become too long")) return scripted::says("<notes>NOTE_A</notes>");
    if (has(r.body, "NOTE_A")) return {.status = 500};
    ++calls;
    return scripted::calls(
        {{"write_file", R"({"path":"kernel.cpp","text":")" + std::string(3000, 'x') + "\"}"}});
  });
  bench b(server);
  b.op.limits.context = 4000;
  b.op.notes_bytes = 80;
  CHECK(has(text_of(b.vary()), "none: model: server_error"));
  CHECK(b.op.notes->text == "NOTE_A");
  CHECK(calls > 2);
}
