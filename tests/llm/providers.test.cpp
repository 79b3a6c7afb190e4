// The entries for services in docs/guide/language_model.md, each against a server that checks what the
// service documents: path, headers and body of a request. Only the host is another.

#include <cstdlib>
#include <map>
#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "src/base/settings/yaml.hpp"
#include "src/llm/decode.hpp"
#include "src/llm/endpoint.hpp"
#include "tests/llm/asking.hpp"
#include "tests/support/has.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

/// The YAML below a heading of the page.
std::string entry_of_page(const std::string& heading) {
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/guide/language_model.md");
  const auto at = page.find("\n### " + heading + "\n");
  REQUIRE_MESSAGE(at != std::string::npos, heading);
  const auto begin = page.find("```yaml\n", at) + 8;
  return page.substr(begin, page.find("```", begin) - begin);
}

struct sent {
  scripted::request request;
  chat_reply reply;
};

/// Sends a request with a tool by the entry of the page to a server that answers in the service's form.
sent sent_by(const std::string& heading, const std::string& host, const scripted::answer& answer) {
  scripted::server server([&](const scripted::request&) { return answer; });
  std::string entry = entry_of_page(heading);
  const auto at = entry.find(host);
  REQUIRE_MESSAGE(at != std::string::npos, entry);
  entry.replace(at, host.size(), "http://127.0.0.1:" + std::to_string(server.port()));
  settings from(parse_yaml(entry, "page"));
  const model_settings made = decode_model(from, ".", true);
  from.finish();
  endpoint model(made.server);
  chat_request request = hello;
  request.tools = {{"time", "times", R"({"type":"object","properties":{}})"}};
  request.sampling.max_tokens = 100;
  chat_reply reply = model.chat(request, {});
  return {server.seen().at(0), std::move(reply)};
}

boost::json::object body_of(const sent& what) {
  return boost::json::parse(what.request.body).as_object();
}

/// What holds of all of them.
void check_body(const sent& what, const std::string& model, const std::string& max_tokens_key) {
  CHECK_MESSAGE(what.reply.ok(), what.reply.detail);
  const auto body = body_of(what);
  CHECK(body.at("model").as_string() == model);
  CHECK(body.at("messages").as_array().size() == 2);
  CHECK(body.at(max_tokens_key).to_number<int>() == 100);
  CHECK(body.at("tools").as_array().at(0).at("function").at("name").as_string() == "time");
  CHECK(body.at("stream").as_bool());
  CHECK(has(what.request.head, "\r\nContent-Type: application/json\r\n"));
}

void check_bearer(const sent& what, const std::string& path, const std::string& key) {
  CHECK_MESSAGE(what.request.head.starts_with("POST " + path + " HTTP/1.1\r\n"), what.request.head);
  CHECK_MESSAGE(has(what.request.head, "\r\nAuthorization: Bearer " + key + "\r\n"), what.request.head);
}

}  // namespace

TEST_CASE("OpenAI: bearer token, max_completion_tokens") {
  ::setenv("OPENAI_API_KEY", "sk-openai-0123456789", 1);
  const sent what = sent_by("OpenAI", "https://api.openai.com", scripted::streams("hello"));
  ::unsetenv("OPENAI_API_KEY");
  check_bearer(what, "/v1/chat/completions", "sk-openai-0123456789");
  check_body(what, "gpt-5", "max_completion_tokens");
  CHECK(!body_of(what).contains("max_tokens"));
}

TEST_CASE("Azure: deployment in the path, version in the query, header api-key") {
  ::setenv("AZURE_OPENAI_API_KEY", "azure-0123456789abcdef", 1);
  const sent what = sent_by(
      "Azure OpenAI", "https://RESOURCE.openai.azure.com",
      {.content_type = "text/event-stream",
       // Its first event has no choice but the result of a filter.
       .body =
           "data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n"
           "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\","
           "\"content_filter_results\":{}}]}\n\ndata: [DONE]\n\n"});
  CHECK_MESSAGE(
      what.request.head.starts_with(
          "POST /openai/deployments/DEPLOYMENT/chat/completions?api-version=2024-10-21 HTTP/1.1\r\n"),
      what.request.head);
  CHECK(has(what.request.head, "\r\napi-key: azure-0123456789abcdef\r\n"));
  CHECK(!has(what.request.head, "Authorization"));
  check_body(what, "DEPLOYMENT", "max_completion_tokens");
  CHECK(what.reply.content == "hello");
}

TEST_CASE("Anthropic: bearer token at its address for the OpenAI protocol") {
  ::setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789", 1);
  const sent what = sent_by("Anthropic", "https://api.anthropic.com", scripted::streams("hello"));
  check_bearer(what, "/v1/chat/completions", "sk-ant-0123456789");
  check_body(what, "claude-opus-4-6", "max_tokens");
  CHECK(!body_of(what).contains("n"));
}

TEST_CASE("Gemini: bearer token below v1beta/openai, tool calls whole in one event and without an index") {
  ::setenv("GEMINI_API_KEY", "gemini-0123456789", 1);
  const sent what = sent_by(
      "Gemini", "https://generativelanguage.googleapis.com",
      {.content_type = "text/event-stream",
       .body =
           "data: "
           "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"arguments\":"
           "\"{}\",\"name\":\"time\"},\"id\":\"\",\"type\":\"function\"},{\"function\":{\"arguments\":\"{}\","
           "\"name\":\"time\"},\"id\":\"\",\"type\":\"function\"}]},\"finish_reason\":\"stop\",\"index\":0}],"
           "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6,\"total_tokens\":11}}\n\ndata: "
           "[DONE]\n\n"});
  check_bearer(what, "/v1beta/openai/chat/completions", "gemini-0123456789");
  check_body(what, "gemini-3-flash-preview", "max_tokens");
  REQUIRE(what.reply.tool_calls.size() == 2);
  CHECK(what.reply.tool_calls[0].name == "time");
  CHECK(what.reply.tool_calls[1].arguments == "{}");
  CHECK(!what.reply.tool_calls[0].id.empty());
  CHECK(what.reply.tool_calls[0].id != what.reply.tool_calls[1].id);
  CHECK(what.reply.tokens_out == 6);
}

TEST_CASE("OpenRouter: bearer token, title, comments in the stream") {
  ::setenv("OPENROUTER_API_KEY", "sk-or-0123456789", 1);
  scripted::answer stream = scripted::streams("hello");
  stream.body = ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" + stream.body;
  const sent what = sent_by("OpenRouter", "https://openrouter.ai", stream);
  check_bearer(what, "/api/v1/chat/completions", "sk-or-0123456789");
  CHECK(has(what.request.head, "\r\nX-Title: kevo\r\n"));
  check_body(what, "qwen/qwen3-coder", "max_tokens");
}

TEST_CASE("Ollama: no key, reasoning in a field of its own") {
  const sent what = sent_by(
      "Ollama", "http://localhost:11434",
      {.content_type = "text/event-stream",
       .body = "data: "
               "{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"reasoning\":"
               "\"hm\"},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":"
               "\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"});
  CHECK(what.request.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
  CHECK(!has(what.request.head, "Authorization"));
  check_body(what, "qwen3-coder:30b", "max_tokens");
  CHECK(what.reply.content == "hello");
  CHECK(what.reply.reasoning == "hm");
}

TEST_CASE("the variables of OpenAI's client are the defaults, and its key goes to no other server") {
  const auto decoded = [](const std::string& yaml) {
    settings from(parse_yaml(yaml, "config.yaml"));
    return decode_model(from, ".", true).server;
  };
  ::unsetenv("OPENAI_BASE_URL");
  ::unsetenv("OPENAI_API_KEY");
  CHECK_THROWS_AS(decoded("{name: a}"), error);
  ::setenv("OPENAI_API_KEY", "sk-openai-0123456789", 1);
  CHECK(decoded("{name: a}").url == "https://api.openai.com/v1");
  CHECK(decoded("{name: a}").key == "sk-openai-0123456789");
  CHECK(decoded("{name: a, url: \"http://localhost:8000/v1\"}").key.empty());
  ::setenv("OPENAI_BASE_URL", "http://localhost:8000/v1", 1);
  CHECK(decoded("{name: a}").url == "http://localhost:8000/v1");
  CHECK(decoded("{name: a}").key == "sk-openai-0123456789");
  CHECK(decoded("{name: a, key_env: ''}").key.empty());
  CHECK(decoded("{name: a, url: \"http://elsewhere/v1\"}").key.empty());
  ::unsetenv("OPENAI_BASE_URL");
  ::unsetenv("OPENAI_API_KEY");
}
