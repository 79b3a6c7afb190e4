// timed
// A program in place of a server: what it gets, what it may print, and how its failures are told.

#include <chrono>
#include <string>

#include <doctest/doctest.h>

#include "src/base/settings/yaml.hpp"
#include "src/llm/decode.hpp"
#include "src/llm/program_call.hpp"
#include "tests/llm/asking.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

endpoint program_model(const std::string& script, double limit_s = 20) {
  return endpoint({.dialect = {.model = "m", .stream = false, .several_replies = false},
                   .command = {"/bin/sh", "-c", script},
                   .limits = {.total_s = limit_s},
                   .retries = {.tries = 1}});
}

chat_reply said_by(const std::string& script, double limit_s = 20) {
  return program_model(script, limit_s).chat(hello, {});
}

}  // namespace

TEST_CASE("a program gets the request as JSON and prints the reply, in any of three forms") {
  const chat_reply echoed = said_by("cat");
  CHECK(echoed.ok());
  CHECK_MESSAGE(has(echoed.content, R"("messages":[{"role":"system","content":"be brief"})"), echoed.content);
  CHECK(!has(echoed.content, "\"stream\""));
  CHECK(echoed.tokens_in > 0);
  CHECK(echoed.tokens_estimated == echoed.tokens_in + echoed.tokens_out);
  const chat_reply object =
      said_by("echo '{\"content\": \"a\", \"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 4}}'");
  CHECK(object.content == "a");
  CHECK(object.tokens_in == 3);
  CHECK(object.tokens_out == 4);
  CHECK(object.tokens_estimated == 0);
  const chat_reply tools = said_by(
      "echo '{\"content\": null, \"tool_calls\": [{\"name\": \"time\", \"arguments\": {\"n\": 1}}]}'");
  REQUIRE(tools.tool_calls.size() == 1);
  CHECK(tools.tool_calls[0].name == "time");
  CHECK(tools.tool_calls[0].arguments == "{\"n\":1}");
  CHECK(!tools.tool_calls[0].id.empty());
  CHECK(said_by("echo '{\"choices\": [{\"message\": {\"content\": \"b\"}, \"finish_reason\": \"length\"}]}'")
            .status == reply_status::truncated);
  CHECK(said_by("true").status == reply_status::empty);
}

TEST_CASE("a request larger than a pipe is passed on whole, and a program may ignore it") {
  chat_request large = hello;
  large.messages[1].content = std::string(3U << 20U, 'x');
  CHECK(program_model("wc -c").chat(large, {}).content.size() >= 7);
  CHECK(program_model("echo done").chat(large, {}).content == "done\n");
  CHECK(program_model("exec 0<&-; sleep 0.1; echo done").chat(large, {}).content == "done\n");
}

TEST_CASE("failures of a program are failures of the model, with the end of its standard error") {
  const chat_reply failed = said_by("echo 'first line' >&2; echo 'no such model' >&2; exit 3");
  CHECK(failed.status == reply_status::server_error);
  CHECK_MESSAGE(has(failed.detail, "ended with exit code 3: first line no such model"), failed.detail);
  CHECK(has(said_by("kill -9 $$").detail, "ended by signal 9"));
  const auto began = std::chrono::steady_clock::now();
  const chat_reply late = said_by("echo hm >&2; sleep 60 & sleep 60", 0.3);
  CHECK(late.status == reply_status::timed_out);
  CHECK_MESSAGE(has(late.detail, "took longer than 0.3 s (timeouts.total): hm"), late.detail);
  std::stop_source stop;
  endpoint model = program_model("sleep 60");
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
  });
  CHECK(model.chat(hello, stop.get_token()).status == reply_status::cancelled);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  endpoint none({.command = {"/nowhere/program"}, .retries = {.tries = 1}});
  const chat_reply missing = none.chat(hello, {});
  CHECK(missing.status == reply_status::rejected);
  CHECK_MESSAGE(has(missing.detail, "'/nowhere/program' cannot be started"), missing.detail);
  CHECK(has(endpoint({.command = {"kevo-no-such-program"}, .retries = {.tries = 1}}).chat(hello, {}).detail,
            "there is no such executable file"));
}

TEST_CASE("a program may complain at length, lies beside its config, and leaves nothing behind") {
  const chat_reply loud = said_by("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo done");
  CHECK(loud.ok());
  CHECK(loud.content == "done\n");
  const shell::scratch folder;
  const std::filesystem::path place = (folder / "answer.sh").parent_path();
  shell::write_file(folder / "answer.sh", "#!/bin/sh\npwd\n(sleep 60; echo late) &\n");
  std::filesystem::permissions(folder / "answer.sh", std::filesystem::perms::owner_all);
  const auto began = std::chrono::steady_clock::now();
  const chat_reply beside = endpoint({.command = {"./answer.sh"},
                                      .directory = place.string(),
                                      .limits = {.total_s = 20},
                                      .retries = {.tries = 1}})
                                .chat(hello, {});
  CHECK_MESSAGE(has(beside.content, place.filename().string()), beside.detail);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
}

TEST_CASE("a model has a url or a command") {
  settings both(parse_yaml("{name: a, url: \"http://x/v1\", command: [x]}", "c.yaml"));
  CHECK_THROWS_AS(decode_model(both, ".", true), error);
  settings one(parse_yaml("{name: a, command: [./x, y]}", "c.yaml"));
  const model_settings made = decode_model(one, "/folder", true);
  CHECK(made.server.command == std::vector<std::string>{"./x", "y"});
  CHECK(made.server.directory == "/folder");
}

TEST_CASE("every kind of operator works with a program, an agent with its tools too") {
  const scripted::project p(
      "  models: [{name: a, command: [/bin/sh, model.sh]}]\n",
      "run: {output: run, parallel: {variations: 1, builds: 1}}\narchive: {type: top_k}\nselect: {type: "
      "greedy}\n"
      "vary: {portfolio: {type: uniform}, operators: [{type: agent, notes: 0}, {type: llm_rewrite, "
      "similarity: 2}]}\nstop: {any: [{proposals: 6}]}\n");
  shell::write_file(
      p.folder / "model.sh",
      "request=$(cat)\nn=$(($(cat count 2>/dev/null || echo 0) + 1))\necho $n > count\nv=$((1001 + 5 * n))\n"
      "case $request in\n*'\"name\":\"kevo_ready\"'*) echo '{\"tool_calls\": [{\"name\": "
      "\"kevo_ready\"}]}';;\n"
      "*'\"name\":\"write_file\"'*)\n"
      "printf '{\"tool_calls\": [{\"name\": \"write_file\", \"arguments\": {\"path\": \"kernel.txt\", "
      "\"text\": \"value "
      "%d\\\\n\"}}, {\"name\": \"time\"}, {\"name\": \"submit\", \"arguments\": {\"summary\": \"n\"}}]}' "
      "$v;;\n"
      "*) printf '```\\nvalue %d\\n```\\n' $v;;\nesac\n");
  const auto ended = p.answer({"run", "config.yaml"});
  CHECK(ended.at("ledger").at("proposals").to_number<int>() == 6);
  CHECK(ended.at("ledger").at("no_proposals").to_number<int>() == 0);
  const auto replayed = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(replayed.code == 0, replayed.err);
  CHECK(has(replayed.out, "all decisions were the same"));
}
