// timeout: 120
// What prompts hold of the run's past and of the knowledge base: notes, the parent's children, pages.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/operators/llm/replies.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

TEST_CASE("summarize: what was noted reaches the next prompt, also of another operator") {
  scripted::server server([](const scripted::request& r) {
    if (r.number == 0) return scripted::says("<summary>TILES of 8 failed: crashed</summary>");
    return scripted::says(has(r.body, "TILES of 8 failed") ? good : "no");
  });
  bench b(server);
  CHECK(has(text_of(b.vary(summarize{b.settings()})), "X[i] + X[i]"));
  CHECK(has(text_of(b.vary(llm_rewrite{b.settings()})), "X[i] + X[i]"));
}

TEST_CASE("with embeddings, pages are found that share no word with the question") {
  const shell::scratch folder;
  shell::write_file(folder / "k/a.md",
                    "---\ntitle: Alpha\n---\nThe words of the question stand here: slow loads.\n");
  shell::write_file(folder / "k/b.md", "---\ntitle: Beta\n---\nMEANT: latency of memory.\n");
  shell::write_file(folder / "k/c.md", "---\ntitle: Gamma\n---\nNothing of it.\n");
  bool down = false;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (down) return {.status = 400, .body = "{}"};
    // In the order of the texts: the question, then the pages.
    const bool all = has(r.body, "MEANT");
    return {
        .body =
            all ? R"({"data":[{"embedding":[1,0]},{"embedding":[0,1]},{"embedding":[1,0.1]},{"embedding":[-1,0]}]})"
                : R"({"data":[{"embedding":[1,0]}]})"};
  });
  model_settings one{.name = "m", .server = {.url = server.url(), .dialect = {.model = "m"}}};
  one.server.retries.tries = 1;
  language_models models(
      {.models = {one}, .knowledge = (folder / "k").string(), .knowledge_embeddings = "m"});
  const auto titles = [&](const std::string& query) {
    std::string text;
    for (const auto& page : models.pages(query, {}, 2, {})) text += page.title + " ";
    return text;
  };
  const std::string first = titles("slow loads");
  CHECK((first == "Alpha Beta " || first == "Beta Alpha "));
  CHECK(titles("stalls") == "Beta ");  // the others are not near
  CHECK(server.requests() == 2);       // pages are embedded once
  CHECK(!has(server.seen()[1].body, "MEANT"));
  down = true;
  CHECK(titles("the words") == "Alpha ");         // by words alone
  CHECK(titles("the words of nothing").empty());  // half of what it says
}

TEST_CASE(
    "memory: the parent's earlier children with plan, outcome and reason, and nothing on a clean slate") {
  scripted::server server([](const scripted::request&) { return scripted::says(good); });
  bench b(server);
  b.models->set_notes("NOTES_OF_THE_RUN");
  variation_services s = *b.request.services;
  s.children = [](candidate_id parent, std::size_t) {
    CHECK(parent == 3);
    candidate_snapshot slower = *candidate(8, "// a\n", 1.25);
    slower.summary = "TILE_THE_ROWS";
    candidate_snapshot broken = *candidate(9, "// b\n", 0, outcome::incorrect, "error: WRONG_AT_THE_EDGE");
    broken.summary = "DROP_THE_TAIL";
    return std::vector<candidate_snapshot>{broken, slower};
  };
  s.siblings = [](candidate_id, std::size_t) {
    return std::vector<candidate_snapshot>{*candidate(7, "// c\n", 2)};
  };
  b.request.services = std::make_shared<const variation_services>(std::move(s));
  b.request.inspirations = {candidate(5, "// ANOTHER_CANDIDATE\n", 3.7)};
  const auto prompt_with = [&](memory_scope scope, const llm_settings& with) {
    b.request.scope = scope;
    b.vary(llm_rewrite{with});
    return server.seen().back().body;
  };
  for (const auto scope : {memory_scope::siblings, memory_scope::both}) {
    const std::string prompt = prompt_with(scope, b.settings());
    CHECK(
        has(prompt, "#9 by tune: incorrect; plan: DROP_THE_TAIL; failed because: error: WRONG_AT_THE_EDGE"));
    CHECK(has(prompt, "#8 by tune: valid, 1.25 times as fast as seed; plan: TILE_THE_ROWS"));
    CHECK(!has(prompt, "#7 by tune"));  // a sibling of the parent
    CHECK(has(prompt, "NOTES_OF_THE_RUN"));
    CHECK(has(prompt, "ANOTHER_CANDIDATE"));
  }
  CHECK(!has(prompt_with(memory_scope::parent_trajectory, b.settings()), "DROP_THE_TAIL"));
  const std::string clean = prompt_with(memory_scope::clean_slate, b.settings());
  for (const char* past : {"DROP_THE_TAIL", "TILE_THE_ROWS", "NOTES_OF_THE_RUN", "ANOTHER_CANDIDATE"})
    CHECK(!has(clean, past));
  CHECK(has(clean, "## Parent: #3"));
  const std::string alone = prompt_with(memory_scope::notes, b.settings());
  CHECK(!has(alone, "DROP_THE_TAIL"));
  CHECK(has(alone, "NOTES_OF_THE_RUN"));
  CHECK(has(alone, "ANOTHER_CANDIDATE"));
  b.request.scope = memory_scope::clean_slate;
  // What is crossed is shown all the same.
  b.vary(llm_crossover{b.settings()});
  CHECK(has(server.seen().back().body, "ANOTHER_CANDIDATE"));
  // A scope that is drawn stands above the selection's.
  llm_settings always = b.settings();
  always.scopes = {0, 0, 0, 1};
  CHECK(!has(prompt_with(memory_scope::both, always), "DROP_THE_TAIL"));
  CHECK(has(b.notes, "[memory] clean_slate"));
}

TEST_CASE("memory: each turn draws its scope by the weights, and draws nothing else differently") {
  llm_settings with;
  with.scopes = {1, 2, 0, 5};
  variation_request request;
  request.scope = memory_scope::both;
  std::map<memory_scope, int> count;
  for (std::uint64_t turn = 0; turn < 4000; ++turn) {
    const rng random = rng(1).split(turn);
    ++count[with_scope(with, request, random).scope];
  }
  CHECK(count[memory_scope::both] == 0);
  CHECK(count[memory_scope::parent_trajectory] / 4000.0 == doctest::Approx(1 / 8.0).epsilon(0.15));
  CHECK(count[memory_scope::siblings] / 4000.0 == doctest::Approx(2 / 8.0).epsilon(0.15));
  CHECK(count[memory_scope::clean_slate] / 4000.0 == doctest::Approx(5 / 8.0).epsilon(0.1));
  {
    auto independent = request;  // a selector that asks for a clean slate gets it
    independent.scope = memory_scope::clean_slate;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      CHECK(with_scope(with, independent, rng(seed)).scope == memory_scope::clean_slate);
  }
  with.scopes = {};
  CHECK(with_scope(with, request, rng(1)).scope == memory_scope::both);
}

TEST_CASE("knowledge: constraint pages are in every prompt and take no other page's place") {
  const shell::scratch folder;
  std::filesystem::create_directories(folder / "k");
  const auto page = [&](const std::string& name, const std::string& head, const std::string& text) {
    shell::write_file(folder / "k" / (name + ".md"),
                      "---\ntitle: " + name + "\n" + head + "---\n" + text + "\n");
  };
  // The words of the task stand in all of them: the constraints would win a search.
  page("rule", "kind: constraints\n", "elementwise double double double RULE_FOR_ALL");
  page("cuda_rule", "kind: constraints\nlanguages: cuda\n", "RULE_FOR_CUDA");
  page("one", "kind: guidance\n", "elementwise double PAGE_ONE");
  page("two", "kind: guidance\n", "elementwise double PAGE_TWO");
  scripted::server server([](const scripted::request&) { return scripted::says(good); });
  bench b(server, (folder / "k").string());
  const auto prompt_with = [&](double rate) {
    llm_settings with = b.settings();
    with.injection_rate = rate;
    b.vary(llm_rewrite{with});
    return server.seen().back().body;
  };
  const std::string without = prompt_with(0);
  CHECK(has(without, "RULE_FOR_ALL"));
  CHECK(!has(without, "RULE_FOR_CUDA"));
  CHECK(!has(without, "PAGE_ONE"));
  const std::string all = prompt_with(1);
  for (const char* text : {"RULE_FOR_ALL", "PAGE_ONE", "PAGE_TWO"}) CHECK(has(all, text));
}
