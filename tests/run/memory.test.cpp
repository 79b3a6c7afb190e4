// timeout: 120
// What a model is told of its parent's earlier children in a whole run: plans and reasons come from the run
// itself, and a replay shows the same.

#include <algorithm>
#include <atomic>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

TEST_CASE("later prompts tell plan, outcome and reason of the parent's earlier children") {
  auto server = std::make_unique<scripted::server>([](const scripted::request& r) {
    // Worse than the seed, or a multiple of five and wrong: the seed stays the parent of all.
    const auto n = r.number % 2 == 0 ? 97 * (5 * static_cast<long long>(r.number) + 1)
                                     : 485 * (static_cast<long long>(r.number) + 1);
    return scripted::says(scripted::value_reply(n, "IDEA_" + std::to_string(r.number)));
  });
  const scripted::project p(
      "  models: [{name: a, url: \"" + server->url() + "\", retries: {tries: 1}}]\n",
      "run: {name: memory, seed: 5, output: run, parallel: {variations: 1, builds: 1, proposals_ahead: 1}}\n"
      "archive: {type: top_k, k: 20}\nselect: {type: greedy, scope: siblings}\n"
      "vary: {operators: [{type: llm_rewrite, similarity: 2, attempts: 1}]}\nstop: {proposals: 8}\n");
  const auto ended = p.answer({"run", "config.yaml"});
  CHECK(ended.at("stopped_by").as_string() == "8 proposals");
  const auto seen = server->seen();
  server.reset();
  REQUIRE(seen.size() >= 8);
  const std::string& last = seen[7].body;
  CHECK_MESSAGE(has(last, "#1 by llm_rewrite: valid, score 1; plan: IDEA_0"), last);
  CHECK_MESSAGE(has(last, "#2 by llm_rewrite: incorrect; plan: IDEA_1; failed because: a multiple of five"),
                last);
  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(has(again.out, ", 0 of them for a request that differs"), again.out << again.err);
}

TEST_CASE("a confirmed success becomes a skill that later prompts hold, and a replay comes to the same") {
  std::atomic<int> distilled = 0;
  auto server = std::make_unique<scripted::server>([&](const scripted::request& r) {
    if (has(r.body, "You distil what a successful change")) {
      ++distilled;
      return scripted::says(
          "Technique: COUNT_HIGHER than before\nApplies when: the score is a number\nEvidence: it went up\n"
          "Hardware: any\nBottlenecks: compute");
    }
    // Ever better: 4, 14, 24, ... and then no more.
    const auto n = 3 + 10 * std::min<long long>(9, static_cast<long long>(r.number) + 1);
    return scripted::says(scripted::value_reply(n % 5 == 0 ? n + 1 : n, "IDEA_" + std::to_string(r.number)));
  });
  const scripted::project p(
      "  models: [{name: a, url: \"" + server->url() + "\", retries: {tries: 1}}]\n" +
          "  knowledge: {skills: skills}\n",
      "run: {name: memory, seed: 5, output: run, parallel: {variations: 1, builds: 1, proposals_ahead: 1}}\n"
      "archive: {type: top_k, k: 20}\nselect: {type: greedy}\n"
      "vary: {operators: [{type: llm_rewrite, similarity: 2, attempts: 1}]}\nstop: {proposals: 6}\n"
      "confirm: {after: 0}\n");  // this model answers faster than anything is evaluated
  p.answer({"run", "config.yaml"});
  CHECK(distilled >= 1);
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(p.folder / "skills")) {
    ++files;
    const std::string page = shell::read_file(file.path());
    CHECK(has(page, "title: COUNT_HIGHER than before"));
    CHECK(has(page, "kind: skill"));
    CHECK(has(page, "Applies when: the score is a number"));
    CHECK(has(page, "Measured by kevo: Candidate #"));
    CHECK(!has(page, "IDEA_"));  // what the model said of its change is not the skill
  }
  CHECK(files == static_cast<std::size_t>(distilled));
  const auto seen = server->seen();
  CHECK(std::any_of(seen.begin(), seen.end(), [](const auto& r) {
    return has(r.body, "You write fast and correct") && has(r.body, "COUNT_HIGHER");
  }));
  server.reset();
  std::filesystem::remove_all(p.folder / "skills");
  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(has(again.out, ", 0 of them for a request that differs"), again.out << again.err);
}
