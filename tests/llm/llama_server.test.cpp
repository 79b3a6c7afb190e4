// timed
// labels: slow
// timeout: 300
// The client and the operators against a real server of llama.cpp, which generates token by token with a tiny
// model of random weights (tiny_model.py). Grammars prescribe what it writes. Skipped where KEVO_LLAMA_SERVER
// does not name the server (`llama-server`, or llama_server.py) and KEVO_TINY_MODEL the model.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stop_token>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/journal.hpp>

#include "src/llm/recorded_reply.hpp"
#include "tests/support/real_server.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;
using namespace llm_test;
using namespace std::chrono_literals;

namespace {

// Of tiny_model.py: the numbers of two tokens, and how many tokens the template adds. All else is one token a
// byte.
constexpr int end_token = 0;
constexpr int tool_token = 6;
constexpr std::int64_t around_a_message = 2;
constexpr std::int64_t around_a_prompt = 2;

/// The server with two slots of 32768 tokens, or null where it cannot run: the reason is printed.
std::unique_ptr<real_server> started(const std::vector<std::string>& more = {}) {
  const char* program = std::getenv("KEVO_LLAMA_SERVER");
  const char* model = std::getenv("KEVO_TINY_MODEL");
  if (program == nullptr || !std::filesystem::exists(program)) {
    kevo_test::skip("KEVO_LLAMA_SERVER does not name a server of llama.cpp");
    return nullptr;
  }
  if (model == nullptr || !std::filesystem::exists(model)) {
    kevo_test::skip("KEVO_TINY_MODEL does not name the model that tiny_model.py writes");
    return nullptr;
  }
  std::vector<std::string> words = {std::filesystem::absolute(program).string(), "-m",
                                    std::filesystem::absolute(model).string()};
  words.insert(words.end(), {"-c", "65536", "-np", "2", "-t", "1"});
  words.insert(words.end(), more.begin(), more.end());
  auto server = std::make_unique<real_server>(words);
  REQUIRE(server->ready("tiny"));
  return server;
}

/// JSON: the reply is exactly this text.
std::string writes(const std::string& text) {
  return R"({"grammar": )" + scripted::json_text("root ::= " + scripted::json_text(text)) + "}";
}
/// JSON: the reply never ends.
constexpr const char* writes_on = R"x({"grammar": "root ::= \"x\" root"})x";
/// JSON: the reply is a value of two digits that is not a multiple of five.
const std::string writes_a_value =
    R"({"grammar": )" +
    scripted::json_text("root ::= " + scripted::json_text("Summary: another number\n\n```\nvalue ") +
                        " [1-9] [1-46-9] " + scripted::json_text("\n```\n")) +
    "}";
/// JSON: the reply is one or more calls of three of the agent's tools, in any order. The bias makes the model
/// begin with a call, and end after it or begin with another one.
const std::string calls_tools = R"({"tool_choice": "required", "logit_bias": [[)" +
                                std::to_string(tool_token) + ", 100], [" + std::to_string(end_token) +
                                R"x(, 100]], "temperature": 2, "tools": [
{"type": "function", "function": {"name": "write_file", "description": "", "parameters": {"type": "object",
  "properties": {"path": {"const": "seed.txt"}, "text": {"const": "value 17\n"}}, "required": ["path", "text"],
  "additionalProperties": false}}},
{"type": "function", "function": {"name": "time", "description": "", "parameters": {"type": "object",
  "properties": {}, "additionalProperties": false}}},
{"type": "function", "function": {"name": "submit", "description": "", "parameters": {"type": "object",
  "properties": {"summary": {"const": "another number"}}, "required": ["summary"],
  "additionalProperties": false}}}]})x";

endpoint client_of(const real_server& server, const std::string& extra, bool stream = true) {
  endpoint_settings s = server.settings("tiny");
  s.dialect.extra = extra;
  s.dialect.stream = stream;
  return endpoint(s);
}

std::string model_at(const real_server& server, const std::string& extra, bool stream = true) {
  // JSON on one line is YAML.
  return "  models: [{name: m, url: \"" + server.url() +
         "\", model: tiny, concurrency: 2, retries: {tries: 1}, " + "stream: " + (stream ? "true" : "false") +
         ", extra: " + boost::json::serialize(boost::json::parse(extra)) + "}]\n";
}

const chat_request short_hello{.messages = {{"system", "be brief"}, {"user", "hello"}},
                               .sampling = {.max_tokens = 30000}};
constexpr std::int64_t hello_tokens = 8 + 5 + 2 * around_a_message + around_a_prompt;

}  // namespace

TEST_CASE(
    "llama.cpp's tokens are booked exactly, streamed or not, with log-probabilities where they are asked "
    "for") {
  const auto server = started();
  if (!server) return;
  const std::string text = "Grüße, \"x\"\n\tdone";
  for (const bool stream : {true, false}) {
    CAPTURE(stream);
    const chat_reply reply = client_of(*server, writes(text), stream).chat(short_hello, {});
    CHECK_MESSAGE(reply.ok(), reply.detail);
    CHECK(reply.content == text);
    CHECK(reply.counted);
    CHECK(reply.tokens_in == hello_tokens);
    CHECK(reply.tokens_out == static_cast<std::int64_t>(text.size()) + 1);  // the end is a token, too
    CHECK(reply.tokens_estimated == 0);
    CHECK_FALSE(reply.model.empty());
    CHECK(reply.tries == 1);
  }
  std::string extra = writes("done");
  extra.insert(1, R"("logprobs": true, "top_logprobs": 2, )");
  const chat_reply reply = client_of(*server, extra, false).chat(short_hello, {});
  REQUIRE(reply.ok());
  const auto tokens = boost::json::parse(reply.log_probabilities).at("content").as_array();
  REQUIRE(tokens.size() >= 4);
  std::string said;
  for (std::size_t i = 0; i < 4; ++i) {
    said += tokens[i].at("token").as_string();
    CHECK(tokens[i].at("logprob").to_number<double>() < 0);
    CHECK(tokens[i].at("top_logprobs").as_array().size() == 2);
  }
  CHECK(said == "done");

  chat_request cut = short_hello;
  cut.sampling.max_tokens = 12;
  const chat_reply part = client_of(*server, writes_on).chat(cut, {});
  CHECK(part.status == reply_status::truncated);
  CHECK(part.content == std::string(12, 'x'));
  CHECK(part.tokens_out == 12);
}

TEST_CASE("tool calls of llama.cpp's server arrive whole, streamed or not") {
  const auto server = started();
  if (!server) return;
  const std::set<std::string> known = {"write_file", "time", "submit"};
  for (const bool stream : {true, false}) {
    CAPTURE(stream);
    const chat_reply reply = client_of(*server, calls_tools, stream).chat(short_hello, {});
    CHECK_MESSAGE(reply.ok(), reply.detail);
    CHECK(reply.content.empty());
    CHECK(reply.counted);
    REQUIRE_FALSE(reply.tool_calls.empty());
    std::set<std::string> ids;
    for (const tool_call& call : reply.tool_calls) {
      ids.insert(call.id);
      CHECK(known.contains(call.name));
      const auto given = boost::json::parse(call.arguments).as_object();
      if (call.name == "write_file") CHECK(given.at("text").as_string() == "value 17\n");
    }
    CHECK(ids.size() == reply.tool_calls.size());
  }
}

TEST_CASE("a call of llama.cpp's server that is ended books what had arrived, and the server goes on") {
  auto server = started();
  if (!server) return;
  endpoint_settings s = server->settings("tiny");
  s.dialect.extra = writes_on;
  const auto ended_by = [&s](const auto& what, const std::stop_token& stop = {}) {
    const std::jthread soon([&what] {
      std::this_thread::sleep_for(700ms);
      what();
    });
    return endpoint(s).chat(short_hello, stop);
  };
  const auto estimated = [](const chat_reply& reply, reply_status status) {
    CAPTURE(reply.detail);
    CHECK(reply.status == status);
    CHECK_FALSE(reply.counted);
    CHECK(reply.tokens_in == estimated_tokens(short_hello));
    CHECK(reply.tokens_out > 10);
    CHECK(reply.tokens_out < short_hello.sampling.max_tokens);
    CHECK(reply.tokens_estimated == reply.tokens_in + reply.tokens_out);
  };
  std::stop_source ending;
  estimated(ended_by([&] { ending.request_stop(); }, ending.get_token()), reply_status::cancelled);
  s.limits.total_s = 0.7;
  const chat_reply late = endpoint(s).chat(short_hello, {});
  estimated(late, reply_status::timed_out);
  // With a count in each event nothing has to be estimated. A byte is a token here, so that there are more.
  s.dialect.extra.insert(1, R"("timings_per_token": true, )");
  const chat_reply exact = endpoint(s).chat(short_hello, {});
  CHECK(exact.status == reply_status::timed_out);
  CHECK(exact.counted);
  CHECK(exact.tokens_in == hello_tokens);
  CHECK(exact.tokens_out > 10);
  CHECK(exact.tokens_out < short_hello.sampling.max_tokens);
  CHECK(exact.tokens_estimated == 0);
  MESSAGE("in 0.7 s: " << late.tokens_out << " tokens estimated, " << exact.tokens_out << " counted");
  CHECK(client_of(*server, writes("done")).chat(short_hello, {}).content == "done");

  s.dialect.extra = writes_on;
  s.limits.total_s = 60;
  estimated(ended_by([&] { server.reset(); }), reply_status::disconnected);
}

TEST_CASE("what llama.cpp's server refuses is said in its words") {
  const auto server = started();
  if (!server) return;
  const auto refused = [&](const chat_reply& reply, const std::string& words) {
    CAPTURE(reply.detail);
    CHECK(reply.status == reply_status::rejected);
    CHECK(reply.detail.find(words) != std::string::npos);
    CHECK(reply.tokens_out == 0);
  };
  for (const bool stream : {true, false}) {
    refused(client_of(*server, R"({"grammar": "root ::= ("})", stream).chat(short_hello, {}),
            "failed to parse grammar");
    const chat_request much{.messages = {{"user", std::string(40000, 'x')}}};
    refused(client_of(*server, writes("done"), stream).chat(much, {}), "exceed");
  }
  endpoint_settings elsewhere = server->settings("tiny");
  elsewhere.url.replace(elsewhere.url.rfind("/v1"), 3, "/v7");
  refused(endpoint(elsewhere).chat(short_hello, {}), "File Not Found");

  std::string lines = model_at(*server, writes("done"));
  lines.replace(lines.find("/v1"), 3, "/v7");
  const scripted::project p(lines, one_turn_of("llm_rewrite"));
  const auto ended = p.kevo({"run", "config.yaml", "--plain", "--set", "stop={seconds: 3}"});
  const std::string said = ended.out + ended.err;
  CAPTURE(said);
  CHECK(said.find("warning: the server of the language model 'm' rejects the request") != std::string::npos);
  CHECK(said.find("File Not Found") != std::string::npos);
}

TEST_CASE("embeddings of llama.cpp's server tell texts apart") {
  const auto server = started({"--embedding", "--pooling", "mean"});
  if (!server) return;
  endpoint model(server->settings("tiny"));
  chat_reply booked;
  const auto vectors = model.embed({"value 3", "value 17", "value 3"}, {}, booked);
  CHECK_MESSAGE(booked.ok(), booked.detail);
  REQUIRE(vectors.size() == 3);
  CHECK(vectors[0].size() == 64);
  for (std::size_t i = 0; i < vectors[0].size(); ++i)
    CHECK(vectors[0][i] == doctest::Approx(vectors[2][i]).epsilon(0.01));
  CHECK(vectors[0] != vectors[1]);
  CHECK(booked.tokens_in == 7 + 8 + 7);
  CHECK(booked.tokens_out == 0);
}

TEST_CASE("every operator gets a useful reply from llama.cpp's server") {
  const auto server = started();
  if (!server) return;
  for (const std::string& op : operators) {
    for (const bool stream : {true, false}) {
      CAPTURE(op);
      CAPTURE(stream);
      check_useful_turn(op, model_at(*server, op == "agent" ? calls_tools : writes(reply_for_all), stream));
    }
  }
}

TEST_CASE("a run with llama.cpp's server books its tokens and is replayed without it") {
  auto server = started();
  if (!server) return;
  const scripted::project p(
      model_at(*server, writes_a_value),
      "run: {name: real, seed: 1, output: run, parallel: {variations: 2, builds: 1}}\n"
      "archive: {type: top_k, k: 20}\nselect: {type: greedy, inspirations: {top: 2, diverse: 1}}\n"
      "vary: {operators: [{type: llm_rewrite, similarity: 2}, {type: llm_diff, similarity: 2}]}\n"
      "stop: {any: [{proposals: 4}, {seconds: 100}]}\n");
  const auto ended = p.answer({"run", "config.yaml"});
  CHECK(ended.at("stopped_by").as_string() == "4 proposals");
  server.reset();
  std::int64_t in = 0;
  std::int64_t out = 0;
  const auto record = journal::open_read_only((p.folder / "run").string());
  record.for_each_model_call([&](ticket, std::int64_t number) {
    for (const model_call& call : record.model_calls(std::vector{number})) {
      const chat_reply reply = reply_of_json(call.response);
      if (reply.status == reply_status::cancelled) {  // the other variation of the two, when the run ended
        CHECK(call.tokens_in + call.tokens_out == 0);
        continue;
      }
      CHECK(reply.ok());
      CHECK(reply.tokens_estimated == 0);
      CHECK(call.tokens_out == static_cast<std::int64_t>(reply.content.size()) + 1);
      std::int64_t prompt = around_a_prompt;
      const auto messages = boost::json::parse(call.messages).as_array();
      for (const auto& message : messages)
        prompt += static_cast<std::int64_t>(message.at("content").as_string().size()) + around_a_message;
      CHECK(call.tokens_in == prompt);
      in += call.tokens_in;
      out += call.tokens_out;
    }
  });
  CHECK(in > 0);
  CHECK(ended.at("ledger").at("tokens_in").to_number<std::int64_t>() == in);
  CHECK(ended.at("ledger").at("tokens_out").to_number<std::int64_t>() == out);
  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(again.out.find("all decisions were the same") != std::string::npos, again.out << again.err);
}
