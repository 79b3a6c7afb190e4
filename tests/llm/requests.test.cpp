// What a request to a model's server carries besides its body: headers with values from the environment, the
// query of the address; and that no secret gets into a config, a record or a message.

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/base/settings/overrides.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/llm/decode.hpp"
#include "src/llm/recorded_reply.hpp"
#include "tests/llm/asking.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

model_settings decoded(const std::string& yaml, bool needs_key = true) {
  settings from(parse_yaml(yaml, "config.yaml"));
  model_settings made = decode_model(from, ".", needs_key);
  from.finish();
  return made;
}

/// What the refusal of an entry says, with its place and next step.
std::string refusal_of(const std::string& yaml) {
  try {
    decoded(yaml);
  } catch (const error& refused) {
    CHECK(refused.code() == error_code::input);
    CHECK(!refused.hint().empty());
    return std::string(refused.what()) + " | " + refused.hint();
  }
  return "it was taken";
}

}  // namespace

TEST_CASE(
    "headers of a config are sent, with values of the environment, and the query of the address stays") {
  ::setenv("KEVO_TEST_AZURE", "azure-secret-0123456789", 1);
  scripted::server server([](const scripted::request&) { return scripted::says("hello"); });
  const std::string base = server.url().substr(0, server.url().size() - 3);
  const model_settings made = decoded(
      "{name: a, stream: false, headers: {api-key: {env: KEVO_TEST_AZURE}, X-Title: kevo, User-Agent: me}, "
      "url: \"" +
      base + "/openai/deployments/d?api-version=2024-10-21&x=1\"}");
  endpoint model(made.server);
  CHECK(model.chat(hello, {}).ok());
  const std::string head = server.seen().at(0).head;
  CHECK_MESSAGE(
      has(head, "POST /openai/deployments/d/chat/completions?api-version=2024-10-21&x=1 HTTP/1.1\r\n"), head);
  CHECK(has(head, "\r\napi-key: azure-secret-0123456789"));
  CHECK(has(head, "\r\nX-Title: kevo"));
  CHECK(has(head, "User-Agent: me"));
  CHECK(!has(head, "User-Agent: kevo"));
  CHECK(!has(head, "Authorization"));
  // The address of the operation itself is taken, too.
  endpoint whole(
      decoded("{name: a, stream: false, url: \"" + base + "/v1/chat/completions?api-version=3\"}").server);
  CHECK(whole.chat(hello, {}).ok());
  CHECK(has(server.seen().at(1).head, "POST /v1/chat/completions?api-version=3 HTTP/1.1\r\n"));
}

TEST_CASE("a header's value that a server repeats does not come through, and a variable must be set") {
  ::setenv("KEVO_TEST_BEARER", "Bearer abcdefghijklmnop0123", 1);
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (r.number > 0) return scripted::says("my key is abcdefghijklmnop0123");
    return {.status = 400, .body = R"({"error":{"message":"bad 'Bearer abcdefghijklmnop0123'"}})"};
  });
  const model_settings made =
      decoded("{name: a, stream: false, headers: {Authorization: {env: KEVO_TEST_BEARER}}, url: \"" +
              server.url() + "\"}");
  endpoint model(made.server);
  CHECK(!has(model.chat(hello, {}).detail, "abcdefghijklmnop0123"));
  CHECK(has(server.seen().at(0).head, "Authorization: Bearer abcdefghijklmnop0123"));
  CHECK(model.chat(hello, {}).content == "my key is [key]");
  const std::string unset = "{name: a, url: \"http://x/v1\", headers: {api-key: {env: KEVO_TEST_UNSET}}}";
  CHECK(has(refusal_of(unset), "the environment variable KEVO_TEST_UNSET is not set"));
  CHECK(decoded(unset, false).server.headers.at(0).value.empty());
}

TEST_CASE("secrets in a config are refused with the next step, and are not printed") {
  const auto model = [](const std::string& rest) { return "{name: a, " + rest + "}"; };
  const std::string user = refusal_of(model("url: \"https://me:hunter2@3@x.example/v1\""));
  CHECK_MESSAGE(has(user, "contains a user name or a password"), user);
  CHECK_MESSAGE(has(user, "key_env"), user);
  CHECK_MESSAGE(!has(user, "hunter2"), user);
  for (const char* url : {"http://me:hunter2@x:99999/v1", "http://me:hunter2@/v1", "ftp://me:hunter2@x"})
    CHECK(!has(refusal_of(model("url: \"" + std::string(url) + "\"")), "hunter2"));
  CHECK(
      has(refusal_of(model("url: \"https://x/v1?key=hunter2\"")), "the query of the address contains 'key'"));
  CHECK(!has(refusal_of(model("url: \"https://x/v1?api-key=hunter2\"")), "hunter2"));
  const std::string literal = refusal_of(model("url: \"http://x/v1\", headers: {api-key: hunter2}"));
  CHECK_MESSAGE(has(literal, "write api-key: {env: NAME_OF_THE_VARIABLE}"), literal);
  CHECK(has(refusal_of(model("url: \"http://x/v1\", headers: {X-Who: \"${ME}\"}")), "{env:"));
  CHECK(refusal_of(model("url: \"http://x/v1\", headers: {X-Who: {}}")) != "it was taken");
}

TEST_CASE("a password on the command line is not printed, and no run begins") {
  const scripted::project p(
      "  models: [{name: a, url: \"http://127.0.0.1:1/v1\"}]\n",
      "run: {output: run}\narchive: {type: top_k}\nselect: {type: greedy}\nvary: {operators: [{type: "
      "llm_rewrite}]}\nstop: {any: [{proposals: 1}]}\n");
  const auto ended =
      p.kevo({"run", "config.yaml", "--set", "llm.models[0].url=\"http://me:hunter2@127.0.0.1:1/v1\""});
  CHECK(ended.code != 0);
  CHECK_MESSAGE(has(ended.err, "contains a user name or a password"), ended.err);
  CHECK_MESSAGE(!has(ended.out + ended.err, "hunter2"), ended.err);
  CHECK(!std::filesystem::exists(p.folder / "run"));
}

TEST_CASE("what a header holds is in no journal, report or cassette of a run") {
  scripted::server server([](const scripted::request& r) {
    return scripted::says(scripted::value_reply(static_cast<long long>(1001 + r.number * 5)) +
                          "header-secret-0123456789");
  });
  ::setenv("KEVO_TEST_HEADER", "header-secret-0123456789", 1);
  const scripted::project p(
      "  cassette: {mode: record, file: tape.yaml}\n  models: [{name: a, stream: false, headers: {api-key: "
      "{env: "
      "KEVO_TEST_HEADER}}, url: \"" +
          server.url() + "\"}]\n",
      "run: {output: run, seed: 3}\narchive: {type: top_k}\nselect: {type: greedy}\nvary: {operators: "
      "[{type: "
      "llm_rewrite, similarity: 2}]}\nstop: {any: [{proposals: 3}]}\n");
  p.answer({"run", "config.yaml"});
  CHECK(has(server.seen().at(0).head, "header-secret-0123456789"));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(p.folder.string())) {
    if (!entry.is_regular_file()) continue;
    ++files;
    CHECK_MESSAGE(!has(shell::read_file(entry.path()), "header-secret-0123456789"), entry.path().string());
  }
  CHECK(files > 5);
}
