// timeout: 120
// The operators that first diagnose or compare, against a scripted server that succeeds only if the prompt
// holds what is distinctive of each.

#include "operators/llm/directed.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "operators/llm/difference.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/operators/llm/replies.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

TEST_CASE("universal: succeeds only if the page that its diagnosis asks for was retrieved") {
  const shell::scratch folder;
  shell::write_file(folder / "k/fuse.md",
                    "---\ntitle: Fusing passes\nlanguages: cpp\nbottlenecks: memory\n---\nMAGIC-FUSE: join "
                    "the loops over rows.\n");
  shell::write_file(folder / "k/gpu.md",
                    "---\ntitle: Fusing passes on GPUs\nlanguages: cuda\nbottlenecks: memory\n---\nMAGIC-GPU "
                    "join the loops over rows.\n");
  shell::write_file(folder / "k/other.md", "---\ntitle: Trigonometry\n---\nSines.\n");
  scripted::server server([](const scripted::request& r) {
    if (r.number % 2 == 0)
      return scripted::says("It reads twice.\n\n**Bottleneck:** memory\nQuery: fuse \"loops\" AND (rows\n");
    return scripted::says(
        has(r.body, "MAGIC-FUSE") && !has(r.body, "MAGIC-GPU") && has(r.body, "It reads twice") ? good
                                                                                                : "no");
  });
  bench b(server, (folder / "k").string());
  CHECK(has(text_of(b.vary(llm_universal{b.settings()})), "X[i] + X[i]"));
  llm_settings without = b.settings();
  without.injection_rate = 0;
  without.attempts = 1;
  CHECK(has(text_of(b.vary(llm_universal{without})), "none: no usable reply"));
}

TEST_CASE("universal: with an index the diagnosis names pages, which come before those that words find") {
  const shell::scratch folder;
  const auto page = [&](const std::string& name, const std::string& head, const std::string& text) {
    shell::write_file(folder / "k" / (name + ".md"),
                      "---\ntitle: About " + name + "\n" + head + "---\n" + text);
  };
  page("fuse", "bottlenecks: memory\n", "PAGE_FUSE joins loops\n");
  page("loops", "bottlenecks: memory\n", "PAGE_LOOPS loops loops loops\n");
  page("sines", "bottlenecks: compute\n", "PAGE_SINES\n");
  page("rule", "kind: constraints\n", "RULE_FOR_ALL loops\n");
  page("warps", "languages: cuda\n", "PAGE_WARPS loops\n");
  page("guide", "kind: index\n", "`fuse`: where two loops read the same rows. PAGE_OF_INDEX\n");
  std::string pages;
  scripted::server server([&](const scripted::request& r) {
    if (r.number % 2 == 0) return scripted::says("Slow.\nBottleneck: memory\nQuery: loops\n" + pages);
    return scripted::says(good);
  });
  bench b(server, (folder / "k").string());
  llm_settings with = b.settings();
  with.pages = 2;
  const auto prompts_of = [&](bool index) {
    b.vary(llm_universal{.with = with, .index = index});
    const auto& seen = server.seen();
    return std::pair(seen[seen.size() - 2].body, seen.back().body);
  };
  {
    const auto [diagnosis, rewrite] = prompts_of(false);
    CHECK(!has(diagnosis, "About sines"));
    CHECK(has(rewrite, "PAGE_LOOPS"));
    CHECK(has(rewrite, "PAGE_FUSE"));
    CHECK(!has(rewrite, "PAGE_OF_INDEX"));
  }
  pages = "**Pages:** `sines`, nothing_of_this_name, warps, rule, guide, sines\n";
  const auto [diagnosis, rewrite] = prompts_of(true);
  CHECK(has(diagnosis, "PAGE_OF_INDEX"));
  CHECK(has(diagnosis, "- sines: About sines"));
  CHECK(has(diagnosis, "- loops: About loops"));
  for (const char* absent : {"- fuse:", "About rule", "About warps", "- guide:"})
    CHECK(!has(diagnosis, absent));
  CHECK(has(rewrite, "PAGE_SINES"));  // the diagnosis named another bottleneck, and it counts all the same
  CHECK(has(rewrite, "PAGE_LOOPS"));  // the place left goes to what the words find
  for (const char* absent : {"PAGE_FUSE", "PAGE_WARPS", "PAGE_OF_INDEX", "About sines\\n- "})
    CHECK(!has(rewrite, absent));
}

TEST_CASE("contrastive: both exemplars with their scores, and three sections or a complaint") {
  scripted::server server([](const scripted::request& r) {
    const bool all = has(r.body, "SLOW_ONE") &&
                     has(r.body, "valid, 1.1 times as fast as seed [1, 1.2]; visible 1.23 us") &&
                     has(r.body, "FAST_ONE") && has(r.body, "3.7 times as fast");
    if (!all) return scripted::says("no");
    if (!has(r.body, "lacks the section")) return scripted::says(good);
    return scripted::says("## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n" +
                          good);
  });
  bench b(server);
  CHECK(has(text_of(b.vary(llm_contrastive{b.settings(), {}})), "fewer than two"));
  auto slow = *candidate(1, "// SLOW_ONE\n", 1.1);
  evaluation timed = *slow.evaluation;
  timed.speedup_interval = {1.0, 1.2};
  timed.stage = evaluation_stage::timed_full;
  slow.evaluation = std::make_shared<const evaluation>(timed);
  b.request.parents = {std::make_shared<const candidate_snapshot>(slow)};
  b.request.inspirations = {candidate(2, "// FAST_ONE\n", 3.7)};
  CHECK(has(text_of(b.vary(llm_contrastive{b.settings(), {}})), "X[i] + X[i]"));
  CHECK(server.requests() == 2);
}

TEST_CASE("contrastive: what the selector drew is compared, and the child is built on the parent") {
  scripted::server server([](const scripted::request&) {
    return scripted::says("## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n" +
                          good);
  });
  bench b(server);
  auto two_files = *candidate(4, "// PARENT\n", 2.0);
  auto files = *two_files.program;
  files.files.push_back({"table.hpp", "// OF_THE_PARENT\n"});
  two_files.program = std::make_shared<const program>(std::move(files));
  b.request.parents = {std::make_shared<const candidate_snapshot>(two_files)};
  b.request.inspirations = {candidate(5, "// OTHER_BUCKET\n", 3.7)};
  variation_services relatives = *b.request.services;
  relatives.lineage = [](candidate_id, std::size_t) {
    return std::vector<candidate_snapshot>{*candidate(6, "// RELATIVE\n", 9)};
  };
  b.request.services = std::make_shared<const variation_services>(std::move(relatives));
  for (int i = 0; i < 5; ++i) {
    const auto made = b.vary(llm_contrastive{b.settings(), {}});
    REQUIRE(std::holds_alternative<proposal>(made));
    const program& child = std::get<proposal>(made).program;
    REQUIRE(child.files.size() == 2);  // though the other one is faster
    CHECK(child.files[1].text == "// OF_THE_PARENT\n");
  }
  for (const auto& r : server.seen()) {
    CHECK(has(r.body, "code1: #4 by tune: valid, 2 times"));
    CHECK(has(r.body, "code2: #5 by tune: valid, 3.7 times"));
    CHECK(has(r.body, "built on #4"));
    CHECK(!has(r.body, "RELATIVE"));
    for (const char* question : {"1. Which", "2. Which", "3. What limits", "4. Which", "5. Where"})
      CHECK(has(r.body, question));
  }
  // Alone, it is compared with a relative of another bucket.
  b.request.inspirations.clear();
  b.vary(llm_contrastive{b.settings(), {}});
  CHECK(has(server.seen().back().body, "code2: #6 by tune: valid, 9 times"));
}

TEST_CASE("exemplars: distinct buckets, the better ones more often by the softmax") {
  std::vector<candidate_snapshot> pool;
  for (candidate_id i = 0; i < 9; ++i) pool.push_back(*candidate(i, "x", 1.0 + 0.5 * (i / 3)));
  rng random(3);
  std::map<int, int> count;
  for (int n = 0; n < 3000; ++n) {
    const auto drawn = draw_exemplars(pool, {.count = 1, .width = 0.3, .temperature = 0.5}, random);
    ++count[static_cast<int>(drawn.front().evaluation->score * 2)];
  }
  // Scores 1, 1.5 and 2 at half of the greatest as temperature: e^-1, e^-0.5 and 1 over their sum.
  const double sum = std::exp(-1) + std::exp(-0.5) + 1;
  CHECK(count[2] / 3000.0 == doctest::Approx(std::exp(-1) / sum).epsilon(0.2));
  CHECK(count[4] / 3000.0 == doctest::Approx(1 / sum).epsilon(0.06));
  CHECK(draw_exemplars(pool, {.count = 5, .width = 0.3}, random).size() == 3);
}

TEST_CASE("candidates beside the parent are shown by what differs, and the seed that it outdoes is not") {
  CHECK(difference_text("a\nb\nc\n", "a\nB\nc\n") == " a\n-b\n+B\n c\n");
  CHECK(difference_text("a\n", "a\n").empty());
  std::string long_text = "// HEAD\n";
  for (int i = 0; i < 60; ++i) long_text += "void f" + std::to_string(i) + "();\n";
  const scripted::server server([](const scripted::request&) { return scripted::says("x"); });
  bench b(server);
  auto seed = *candidate(0, "// NAIVE\n", 1.0);
  seed.operator_name = "seed";
  b.request.parents = {candidate(3, long_text, 2.5)};
  auto changed = *candidate(4, long_text + "void NEW();\n", 2.75);
  changed.summary = "ONE_MORE";
  b.request.inspirations = {std::make_shared<const candidate_snapshot>(seed),
                            std::make_shared<const candidate_snapshot>(changed),
                            candidate(5, "// UNLIKE\nint other;\n", 2.25)};
  const std::string text = inspirations_section(b.request);
  CHECK(has(text, "#4 by tune: valid, 2.75 times as fast as seed; visible 1.23 us; plan: ONE_MORE"));
  CHECK(has(text, "Its difference to the parent:"));
  CHECK(has(text, "+void NEW();"));
  CHECK(!has(text, "void f20"));
  CHECK(has(text, "// UNLIKE\nint other;"));
  CHECK(!has(text, "NAIVE"));
  // With a parent that does not work, or that is slower, a seed is worth showing.
  b.request.parents = {candidate(3, long_text, 0.5)};
  CHECK(has(inspirations_section(b.request), "NAIVE"));
  b.request.parents = {candidate(3, long_text, 0, outcome::incorrect)};
  CHECK(has(inspirations_section(b.request), "NAIVE"));
}

TEST_CASE("drafts of a seed are told which approaches earlier drafts took, and nothing else of them") {
  const scripted::server server([](const scripted::request&) { return scripted::says("x"); });
  bench b(server);
  auto parent = *b.request.parents.front();
  parent.operator_name = "seed";
  auto first = *candidate(7, "// OF_ANOTHER_DRAFT\n", 3.0);
  first.operator_name = "llm_universal";
  first.summary = "TILE_THE_ROWS";
  variation_services relatives = *b.request.services;
  std::vector<candidate_snapshot> children = {first};
  relatives.children = [&](candidate_id, std::size_t) { return children; };
  b.request.services = std::make_shared<const variation_services>(relatives);
  b.request.parents = {std::make_shared<const candidate_snapshot>(parent)};
  b.request.scope = memory_scope::clean_slate;
  CHECK(memory_section(b.request, 16) ==
        "## Draft 2\n\nChoose another approach than the earlier drafts, which were:\n\n- TILE_THE_ROWS\n");
  children.clear();
  CHECK(memory_section(b.request, 16).empty());
}
