// timed
// Replies in forms that servers give beside the plain one: text in parts, calls of tools as text or with
// arguments as an object, errors with status 200, and streams that stall.

#include <chrono>
#include <string>

#include <doctest/doctest.h>

#include "operators/agent/tools.hpp"
#include "src/llm/openai_stream.hpp"
#include "src/llm/recorded_reply.hpp"
#include "tests/llm/asking.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

scripted::answer message(const std::string& fields) {
  return {.body = "{\"choices\":[{\"message\":{\"role\":\"assistant\"," + fields +
                  "},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}"};
}

scripted::answer events(const std::vector<std::string>& all) {
  std::string body;
  for (const auto& one : all) body += "data: " + one + "\n\n";
  return {.content_type = "text/event-stream", .body = body + "data: [DONE]\n\n"};
}

/// What comes of a text that a model wrote, to which two tools were offered.
chat_reply with_tools(const std::string& text) {
  scripted::server server([&](const scripted::request&) { return scripted::says(text); });
  endpoint model(settings_for(server));
  chat_request request = hello;
  request.tools = {{"write_file", "writes", R"({"type":"object"})"},
                   {"time", "times", R"({"type":"object"})"}};
  return model.chat(request, {});
}

using call_list = std::vector<std::pair<std::string, std::string>>;
call_list calls_in(const std::string& text) {
  call_list found;
  for (const auto& call : with_tools(text).tool_calls) found.emplace_back(call.name, call.arguments);
  return found;
}

}  // namespace

TEST_CASE("content may be a list of parts, of which thoughts are kept apart") {
  const chat_reply whole = asked(message(
      R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a "},{"type":"text","text":"b"}])"));
  CHECK(whole.ok());
  CHECK(whole.content == "a b");
  CHECK(whole.reasoning == "hm");
  const chat_reply streamed = asked(
      events({R"({"choices":[{"delta":{"content":[{"type":"text","text":"a "}]}}]})",
              R"({"choices":[{"delta":{"content":[{"type":"text","text":"b"}]},"finish_reason":"stop"}]})"}),
      true);
  CHECK(streamed.content == "a b");
}

TEST_CASE("arguments may be an object") {
  const std::string call = R"({"id":"x","function":{"name":"time","arguments":{"n": [1, "two"]}}})";
  const chat_reply whole = asked(message("\"content\":null,\"tool_calls\":[" + call + "]"));
  REQUIRE(whole.tool_calls.size() == 1);
  CHECK(whole.tool_calls[0].arguments == R"({"n":[1,"two"]})");
  const chat_reply streamed = asked(
      events({R"({"choices":[{"delta":{"tool_calls":[)" + call + R"(]},"finish_reason":"tool_calls"}]})"}),
      true);
  REQUIRE(streamed.tool_calls.size() == 1);
  CHECK(streamed.tool_calls[0].arguments == R"({"n":[1,"two"]})");
}

TEST_CASE("an error with status 200 is told as what it is") {
  const auto told = [](const std::string& error) { return asked({.body = "{\"error\":" + error + "}"}); };
  const chat_reply quota = told(R"({"code":429,"message":"slow down"})");
  CHECK(quota.status == reply_status::rate_limited);
  CHECK(quota.tries == 3);
  CHECK(quota.detail == "the server answered 200 with an error: slow down");
  CHECK(told(R"({"code":"401","message":"no key"})").status == reply_status::unauthorized);
  const chat_reply refused = told(R"({"type":"invalid_request_error","message":"no such model"})");
  CHECK(refused.status == reply_status::rejected);
  CHECK(refused.tries == 1);
  CHECK(told(R"("out of memory")").status == reply_status::server_error);
  const chat_reply choice = asked(
      {.body =
           R"({"choices":[{"message":{"content":"half"},"finish_reason":"error","error":{"code":502,"message":"provider gone"}}]})"});
  CHECK(choice.status == reply_status::server_error);
  CHECK(has(choice.detail, "provider gone"));
  const chat_reply streamed = asked(events({R"({"choices":[{"delta":{"content":"half"}}]})",
                                            R"({"error":{"code":400,"message":"too long"}})"}),
                                    true);
  CHECK(streamed.status == reply_status::rejected);
  CHECK(streamed.detail == "the stream says: too long");
  // A null error beside a reply is none.
  CHECK(asked({.body = R"({"error":null,"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]})"})
            .ok());
}

TEST_CASE("calls of tools in the text are calls, in the forms that models write") {
  const call_list one = {{"time", "{}"}};
  const call_list two = {{"write_file", R"({"path":"a.cpp","text":"int x;\nint y;\n"})"}, {"time", "{}"}};
  CHECK(calls_in("I time it.\n<tool_call>\n{\"name\": \"time\", \"arguments\": {}}\n</tool_call>") == one);
  CHECK(calls_in("<tool_call>{\"name\": \"write_file\", \"arguments\": {\"path\": \"a.cpp\", \"text\": "
                 "\"int x;\\nint y;\\n\"}}</tool_call>\n<tool_call>{\"name\":\"time\"}</tool_call>") == two);
  // Line breaks inside of a JSON text are not JSON, but models write them.
  CHECK(calls_in("<tool_call>{\"name\": \"write_file\", \"arguments\": {\"path\": \"a.cpp\", \"text\": "
                 "\"int x;\nint y;\n\"}}\n{\"name\":\"time\"}") == two);
  CHECK(calls_in(
            "<tool_call>\n<function=write_file>\n<parameter=path>\na.cpp\n</parameter>\n<parameter=text>\n"
            "int x;\nint y;\n\n</parameter>\n</function>\n</tool_call>\n<function=time></function>") == two);
  CHECK(calls_in("<function=write_file>{\"path\":\"a.cpp\",\"text\":\"int x;\\nint y;\\n\"}</function>"
                 "<function=time>{}</function>") == two);
  CHECK(calls_in("[TOOL_CALLS] [{\"name\": \"write_file\", \"arguments\": {\"path\":\"a.cpp\",\"text\":\"int "
                 "x;\\nint y;\\n\"}}, {\"name\": \"time\", \"arguments\": {}}]") == two);
  CHECK(calls_in("[TOOL_CALLS]time[ARGS]{}") == one);
  CHECK(calls_in("<|python_tag|>{\"name\": \"time\", \"parameters\": {}}") == one);
  CHECK(calls_in("<|tool_call|>[{\"name\": \"time\", \"arguments\": \"{}\"}]<|/tool_call|>") == one);
  CHECK(calls_in("<invoke name=\"write_file\"><parameter name=\"path\">a.cpp</parameter><parameter "
                 "name=\"text\">int x;\nint y;\n\n</parameter></invoke><invoke name=\"time\"></invoke>") ==
        two);
  CHECK(
      calls_in("<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a.cpp</arg_value>\n<arg_key>text"
               "</arg_key>\n<arg_value>int x;\nint y;\n\n</arg_value>\n</tool_call><tool_call>{\"function\": "
               "{\"name\": \"time\"}}</tool_call>") == two);
  CHECK(calls_in("{\"name\": \"time\", \"parameters\": {}}") == one);
  CHECK(calls_in("```json\n{\"name\": \"time\", \"arguments\": {}}\n```") == one);
  const chat_reply reply = with_tools("First this.\n<tool_call>{\"name\":\"time\"}</tool_call>\n");
  CHECK(reply.content == "First this.");
  CHECK(!reply.tool_calls.at(0).id.empty());
}

TEST_CASE("text that is no call stays text") {
  CHECK(calls_in("Use write_file, then time.").empty());
  CHECK(calls_in("{\"name\": \"unknown\", \"arguments\": {}}").empty());
  CHECK(calls_in("Here: {\"name\": \"time\"}").empty());
  CHECK(with_tools("if (a < b) return [1];").content == "if (a < b) return [1];");
  // Without tools nothing is looked for.
  CHECK(asked(scripted::says("<tool_call>{\"name\":\"time\"}</tool_call>")).tool_calls.empty());
}

TEST_CASE("a call in the text that cannot be read becomes a call that is answered with what is wrong") {
  const chat_reply reply = with_tools("<tool_call>{\"name\": \"time\", \"arguments\": {</tool_call>");
  REQUIRE(reply.tool_calls.size() == 1);
  CHECK(reply.tool_calls[0].name == "time");
  CHECK(has(arguments_of(reply.tool_calls[0]).complaint, "no JSON object"));
  CHECK(
      has(arguments_of(with_tools("<tool_call>time it</tool_call>").tool_calls.at(0)).complaint, "no JSON"));
  // What is sent back is JSON, or the server would refuse the conversation.
  const std::string sent = messages_json({{"assistant", "", reply.tool_calls}});
  CHECK_MESSAGE(has(sent, R"({\"unreadable\":\"{\\\"name\\\": \\\"time\\\")"), sent);
}

TEST_CASE("an agent whose server has no parser for calls works, and is told of calls that cannot be read") {
  std::string seen;
  scripted::server server([&](const scripted::request& r) {
    if (r.number == 0) return scripted::says("<tool_call>{\"name\": \"time\", \"arguments\": {</tool_call>");
    seen = r.body;
    std::string text;
    const std::vector<std::pair<std::string, std::string>> turn = {
        {"write_file", R"({"path": "kernel.txt", "text": "value 1001\n"})"},
        {"time", "{}"},
        {"submit", R"({"summary": "another number"})"}};
    for (const auto& [name, arguments] : turn)
      text += "<tool_call>{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}</tool_call>\n";
    return scripted::says(text);
  });
  const scripted::project p("  models: [{name: a, stream: false, url: \"" + server.url() + "\"}]\n",
                            "run: {output: run, parallel: {variations: 1, builds: 1}}\narchive: {type: "
                            "top_k}\nselect: {type: greedy}\n"
                            "vary: {operators: [{type: agent, notes: 0}]}\nstop: {any: [{proposals: 1}]}\n");
  const auto ended = p.answer({"run", "config.yaml"});
  CHECK(server.requests() == 2);
  CHECK(ended.at("ledger").at("proposals").to_number<int>() == 1);
  CHECK(ended.at("ledger").at("no_proposals").to_number<int>() == 0);
  CHECK_MESSAGE(has(seen, "the arguments are no JSON object"), seen);
}

TEST_CASE("a stream that stalls ends long before the whole call would") {
  scripted::server server([](const scripted::request& r) {
    auto a = scripted::streams("a long reply of a model");
    if (r.number == 0) {
      a.cut = 200;
      a.stay = true;
    }
    return a;
  });
  endpoint_settings s = settings_for(server, true);
  s.limits = {.connect_s = 5, .first_s = 30, .idle_s = 0.3, .total_s = 60};
  s.retries.tries = 1;
  const auto began = std::chrono::steady_clock::now();
  const chat_reply stalled = endpoint(s).chat(hello, {});
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  CHECK(stalled.status == reply_status::timed_out);
  CHECK_MESSAGE(has(stalled.detail, "timeouts.idle"), stalled.detail);
  CHECK(stalled.tokens_out > 0);
  CHECK(endpoint(s).chat(hello, {}).content == "a long reply of a model");
}
