// Runs that stop when a model is asked: requests and replies are files.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> open_requests(const scripted::project& p) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(p.folder / "run/requests")) {
    const std::string path = entry.path().string();
    constexpr std::string_view ending = ".request.json";
    if (!path.ends_with(ending)) continue;
    const std::string stem = path.substr(0, path.size() - ending.size());
    if (!fs::exists(stem + ".reply.json") && !fs::exists(stem + ".reply.md")) found.emplace_back(stem);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string project_config(const std::string& operators) {
  return "run: {output: run, seed: 4, parallel: {variations: 2, builds: 1}}\narchive: {type: top_k, k: "
         "20}\nselect: "
         "{type: greedy}\nvary: {operators: [" +
         operators + "]}\nstop: {any: [{proposals: 4}]}\n";
}

}  // namespace

TEST_CASE("a run stops when a model is asked, and goes on with replies from files") {
  const scripted::project p("  models: [{name: me}]\n", project_config("{type: llm_rewrite, similarity: 2}"));
  const auto first = p.kevo({"run", "config.yaml", "--until-model", "--plain"});
  CHECK_MESSAGE(first.code == 0, first.err);
  CHECK_MESSAGE(has(first.out, "stopped by a model is asked"), first.out);
  CHECK_MESSAGE(has(first.out, "kevo resume run"), first.out);
  CHECK(p.judged() <= 2);  // the seed, and its confirmation

  const auto open = open_requests(p);
  REQUIRE(!open.empty());
  CHECK_MESSAGE(has(first.out, open[0].filename().string() + ".request.json"), first.out);
  const std::string request = shell::read_file(open[0].string() + ".request.json");
  CHECK_MESSAGE(request.starts_with(R"({"model":"me","messages":[{"role":)"), request);
  CHECK(has(shell::read_file(open[0].string() + ".request.md"), "value 3"));

  // Without a reply nothing changes.
  const auto again = p.answer({"resume", "run"});
  CHECK(again.at("stopped_by").as_string() == "a model is asked");
  CHECK(open_requests(p) == open);

  int value = 1001;
  int rounds = 0;
  std::string ended = "a model is asked";
  while (ended == "a model is asked" && rounds++ < 20) {
    for (const auto& stem : open_requests(p)) {
      shell::write_file(stem.string() + ".reply.md", scripted::value_reply(value));
      value += 5;
    }
    ended = p.answer({"resume", "run"}).at("stopped_by").as_string();
  }
  CHECK(ended == "4 proposals");
  CHECK(has(shell::read_file(p.folder / "run/best.txt"), "value 10"));
  const auto replayed = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(replayed.code == 0, replayed.err);
  CHECK_MESSAGE(has(replayed.out, "all decisions were the same"), replayed.out);
}

TEST_CASE(
    "an agent's turn continues over several replies from files, and its drafts are not evaluated again") {
  const scripted::project p(
      "  models: [{name: me}]\n",
      "run: {output: run, seed: 4, parallel: {variations: 1, builds: 1}}\narchive: {type: top_k}\n"
      "select: {type: greedy}\nvary: {operators: [{type: agent, notes: 0}]}\nstop: {any: "
      "[{proposals: 1}]}\n");
  CHECK(p.answer({"run", "config.yaml", "--until-model"}).at("stopped_by").as_string() == "a model is asked");
  const auto reply = [&p](const std::string& json) {
    const auto open = open_requests(p);
    REQUIRE(open.size() == 1);
    shell::write_file(open[0].string() + ".reply.json", json);
  };
  reply(
      R"({"tool_calls": [{"name": "write_file", "arguments": {"path": "kernel.txt", "text": "value 1001\n"}}, {"name": "time"}]})");
  CHECK(p.answer({"resume", "run"}).at("stopped_by").as_string() == "a model is asked");
  CHECK(has(shell::read_file(p.folder / "judged"), "1001\n"));
  CHECK(has(shell::read_file(open_requests(p).at(0).string() + ".request.json"), "\"role\":\"tool\""));
  reply(R"({"tool_calls": [{"name": "submit", "arguments": {"summary": "n"}}]})");
  const auto ended = p.answer({"resume", "run"});
  CHECK(ended.at("ledger").at("proposals").to_number<int>() == 1);
  CHECK(ended.at("best").at("score").to_number<double>() == 1001 % 97 + 1);
  const auto replayed = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(replayed.code == 0, replayed.err);
}

TEST_CASE("several replies to one prompt are awaited together") {
  const scripted::project p("  models: [{name: me}]\n",
                            project_config("{type: llm_rewrite, similarity: 2, samples: 3}"));
  p.answer({"run", "config.yaml", "--until-model"});
  auto open = open_requests(p);
  REQUIRE(open.size() >= 3);
  shell::write_file(open[0].string() + ".reply.md", scripted::value_reply(1001));
  CHECK(p.answer({"resume", "run"}).at("ledger").at("proposals").to_number<int>() == 0);
  int value = 1006;
  for (const auto& stem : open_requests(p)) {
    shell::write_file(stem.string() + ".reply.md", scripted::value_reply(value));
    value += 5;
  }
  CHECK(p.answer({"resume", "run"}).at("ledger").at("proposals").to_number<int>() >= 3);
}
