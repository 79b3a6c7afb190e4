// timeout: 120
// The operators end to end against a scripted server that succeeds only if the prompt holds what is
// distinctive of each.

#include <filesystem>
#include <map>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "operators/llm/directed.hpp"
#include "operators/llm/edits.hpp"
#include "operators/llm/macro_micro.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

std::string code(const std::string& body) {
  return "Summary: faster\n\n```cpp\n#include <cstdint>\nextern \"C\" void run(const float* X, float* Y, "
         "int64_t N) {\n" +
         body + "\n}\n```\n";
}
const std::string good = code("  for (int64_t i = 0; i < N; ++i) Y[i] = X[i] + X[i];");

std::string text_of(const variation_result& r) {
  const auto* p = std::get_if<proposal>(&r);
  return p != nullptr ? std::string(p->program.text()) : "none: " + std::get<no_proposal>(r).reason;
}

}  // namespace

TEST_CASE("rewrite: the prompt holds task, parent and evaluation, and nothing of hidden workloads") {
  scripted::server server([](const scripted::request& r) {
    const bool all = has(r.body, "Y = 2 X") && has(r.body, "Y[i] = 2 * X[i];") &&
                     has(r.body, "1.5 times as fast") && has(r.body, "1.23 us") &&
                     !has(r.body, "secret-shape") && !has(r.body, "77");
    return scripted::says(all ? good : "I lack something");
  });
  bench b(server);
  const auto made = b.vary(llm_rewrite{b.settings()});
  CHECK(has(text_of(made), "X[i] + X[i]"));
  CHECK(std::get<proposal>(made).summary == "faster");
}

TEST_CASE(
    "samples: the first reply with a program is the turn's answer, and the others are proposed beside it") {
  const auto adds = [](const std::string& text) { return code("  Y[0] = " + text + ";"); };
  scripted::server server([&](const scripted::request& r) {
    if (scripted::replies_wanted(r.body) == 1) return scripted::says(adds("7"));
    return scripted::says_each({"no code", adds("1"), code(parent_text), adds("2")});
  });
  bench b(server);
  std::vector<proposal> further;
  variation_services s = *b.request.services;
  s.propose = [&](proposal made) { further.push_back(std::move(made)); };
  s.seen = [](const content_id&) { return true; };
  b.request.services = std::make_shared<const variation_services>(std::move(s));
  llm_settings with = b.settings();
  with.samples = 4;
  const auto made = b.vary(llm_rewrite{with});
  CHECK(has(text_of(made), "Y[0] = 1;"));
  CHECK(std::get<proposal>(made).sample == 1);
  REQUIRE(further.size() == 2);  // known programs, too: a group needs all its rewards
  CHECK(further[0].sample == 2);
  CHECK(further[1].sample == 3);
  CHECK(has(further[1].program.text(), "Y[0] = 2;"));
  CHECK(has(b.notes, "[sample 0] Your reply holds no closed code block"));
  CHECK(server.requests() == 1);

  // The label of an operator stands before every summary.
  further.clear();
  const auto step = b.vary(macro_micro(with, {"tiling"}, uniform_policy()));
  CHECK(std::get<proposal>(step).summary.starts_with("tiling: "));
  REQUIRE(!further.empty());
  CHECK(further[0].summary.starts_with("tiling: "));
}

TEST_CASE("samples: if none has a program, the conversation goes on with the first") {
  scripted::server server([](const scripted::request& r) {
    return scripted::replies_wanted(r.body) == 1 && has(r.body, "no closed code block")
               ? scripted::says(good)
               : scripted::says_each({"no code", "nor here"});
  });
  bench b(server);
  llm_settings with = b.settings();
  with.samples = 2;
  const auto made = b.vary(llm_rewrite{with});
  CHECK(has(text_of(made), "X[i] + X[i]"));
  CHECK(std::get<proposal>(made).sample == 0);
  CHECK(server.requests() == 2);
}

TEST_CASE("diff: a search that does not match is complained about precisely, and the next reply counts") {
  scripted::server server([](const scripted::request& r) {
    if (r.number == 0)
      return scripted::says("<<<<<<< SEARCH\n    Y[i] = 3 * X[i];\n=======\n    Y[i] = 0;\n>>>>>>> REPLACE");
    const bool told = has(r.body, "edit 1 of 1 does not match the source");
    return scripted::says(
        told ? "Summary: add\n<<<<<<< SEARCH\nY[i] = 2 * X[i];\n=======\nY[i] = X[i] + X[i];\n>>>>>>> REPLACE"
             : "no");
  });
  bench b(server);
  const auto made = b.vary(llm_diff{b.settings()});
  CHECK(has(text_of(made), "    Y[i] = X[i] + X[i];\n  }"));
}

TEST_CASE("diff: a whole program is taken as such, and a part of one is not") {
  const std::string whole =
      "#include <cstdint>\nextern \"C\" void run(const float* X, float* Y, int64_t N) {\n"
      "  for (int64_t i = 0; i < N; ++i) Y[i] = X[i] + X[i];\n}\n";
  const auto answered_with = [](const std::string& text) {
    scripted::server server([&](const scripted::request&) { return scripted::says(text); });
    bench b(server);
    return text_of(b.vary(llm_diff{b.settings()}));
  };
  CHECK(has(answered_with("Summary: add\n```cpp\n" + whole + "```\n"), "Y[i] = X[i] + X[i];"));
  CHECK(has(answered_with("Summary: add\n```\n" + whole + "```\n"), "Y[i] = X[i] + X[i];"));
  // A loop alone, two blocks, another language, and a block that was meant as an edit.
  for (const std::string& doubtful :
       {std::string("```cpp\n  for (int64_t i = 0; i < N; ++i) Y[i] = X[i] + X[i];\n```\n"),
        "```cpp\n" + whole + "```\n```cpp\n" + whole + "```\n", "```python\n" + whole + "```\n",
        "```cpp\n<<<<<<< SEARCH\n" + whole + "```\n"})
    CHECK_MESSAGE(has(answered_with(doubtful), "none: no usable reply: Your edits cannot be read"), doubtful);
}

TEST_CASE("crossover: both sources are sent; without a second one no model is asked") {
  scripted::server server([](const scripted::request& r) {
    return scripted::says(has(r.body, "Y[i] = 2 * X[i]") && has(r.body, "OTHER_IDEA") ? good : "no");
  });
  bench b(server);
  CHECK(has(text_of(b.vary(llm_crossover{b.settings()})), "nothing to cross"));
  CHECK(server.requests() == 0);
  b.request.inspirations = {candidate(4, "// OTHER_IDEA\n", 2.0)};
  CHECK(has(text_of(b.vary(llm_crossover{b.settings()})), "X[i] + X[i]"));
}

TEST_CASE("repair: the failure is told, only the fixed draft is proposed, and the chain is bounded") {
  scripted::server server([](const scripted::request& r) {
    if (has(r.body, "error: 'min' is not a member")) return scripted::says(good);
    return scripted::says(code("  broken" + std::to_string(r.number) + ";"));
  });
  bench b(server);
  b.judge = [](const program& p) {
    evaluation e;
    e.outcome = has(std::string(p.text()), "broken") ? outcome::build_failed : outcome::valid;
    e.feedback = "error: 'min' is not a member of 'std'";
    return e;
  };
  CHECK(has(text_of(b.vary(llm_repair{b.settings(), 3})), "X[i] + X[i]"));
  CHECK(b.drafts == 2);
  b.drafts = 0;
  b.judge = [](const program&) {
    evaluation e;
    e.outcome = outcome::incorrect;
    e.feedback = "output Y differs at [3]: 1 instead of 2";
    return e;
  };
  CHECK(has(text_of(b.vary(llm_repair{b.settings(), 2})), "still incorrect after 2 repairs"));
  CHECK(b.drafts == 3);
}

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
    const bool all = has(r.body, "SLOW_ONE") && has(r.body, "score 1.1") && has(r.body, "FAST_ONE") &&
                     has(r.body, "score 3.7");
    if (!all) return scripted::says("no");
    if (!has(r.body, "lacks the section")) return scripted::says(good);
    return scripted::says("## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n" +
                          good);
  });
  bench b(server);
  CHECK(has(text_of(b.vary(llm_contrastive{b.settings(), {}})), "fewer than two"));
  b.request.parents = {candidate(1, "// SLOW_ONE\n", 1.1)};
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
    CHECK(has(r.body, "code1 (#4), score 2"));
    CHECK(has(r.body, "code2 (#5), score 3.7"));
    CHECK(has(r.body, "built on #4"));
    CHECK(!has(r.body, "RELATIVE"));
    for (const char* question : {"1. Which", "2. Which", "3. What limits", "4. Which", "5. Where"})
      CHECK(has(r.body, question));
  }
  // Alone, it is compared with a relative of another bucket.
  b.request.inspirations.clear();
  b.vary(llm_contrastive{b.settings(), {}});
  CHECK(has(server.seen().back().body, "code2 (#6), score 9"));
}

TEST_CASE("exemplars: distinct buckets, the better ones more often by the softmax") {
  std::vector<candidate_snapshot> pool;
  for (candidate_id i = 0; i < 9; ++i) pool.push_back(*candidate(i, "x", 1.0 + 0.5 * (i / 3)));
  rng random(3);
  std::map<int, int> count;
  for (int n = 0; n < 3000; ++n) {
    const auto drawn = draw_exemplars(pool, {.count = 1, .width = 0.5, .temperature = 0.5}, random);
    ++count[static_cast<int>(drawn.front().evaluation->score * 2)];
  }
  // Scores 1, 1.5 and 2 at temperature 0.5: e^-2, e^-1 and 1 over their sum.
  const double sum = std::exp(-2) + std::exp(-1) + 1;
  CHECK(count[2] / 3000.0 == doctest::Approx(std::exp(-2) / sum).epsilon(0.2));
  CHECK(count[4] / 3000.0 == doctest::Approx(1 / sum).epsilon(0.06));
  CHECK(draw_exemplars(pool, {.count = 5, .width = 0.5}, random).size() == 3);
}

TEST_CASE("macro and micro: the model realizes the picked step, and UCB learns which kind pays") {
  scripted::server server([](const scripted::request& r) {
    if (has(r.body, "Steps to choose from")) return scripted::says("Because.\nStep: 2");
    return scripted::says(has(r.body, "Step: fusion of line 3: for (int64_t i = 0") ? good : "no");
  });
  bench b(server);
  CHECK(has(text_of(b.vary(macro_micro(b.settings(), {"tiling", "fusion"}, model_policy()))), "X[i] + X[i]"));
  CHECK(has(b.notes, "[macro] fusion"));

  scripted::server both([](const scripted::request& r) {
    return scripted::says(code("  Y[0] = " + std::to_string(r.number) + ";"));
  });
  bench c(both);
  const macro_micro op(c.settings(), {"tiling", "fusion"}, ucb_policy());
  int fused = 0;
  rng random(2);
  for (std::uint64_t job = 1; job <= 40; ++job) {
    c.request.job = job;
    c.notes.clear();
    CHECK(has(text_of(op.vary(c.request, random)), "Y[0]"));
    const bool fusion = has(c.notes, "[macro] fusion");
    fused += fusion ? 1 : 0;
    observation seen;
    seen.job = job;
    seen.outcome = outcome::valid;
    seen.parent_score = 1;
    seen.score = fusion ? 2 : 1;
    op.observe(seen);
  }
  CHECK(fused >= 24);
}

TEST_CASE("macro and micro: examples of the step are in its prompt, and in no other") {
  const shell::scratch folder;
  const auto page = [&](const std::string& name, const std::string& head) {
    shell::write_file(folder / "k" / (name + ".md"), "---\ntitle: Fusion " + name + "\n" + head +
                                                         "---\nPAGE_" + name + " fusion elementwise\n");
  };
  page("FUSION", "kind: example\nsteps: fusion\nlanguages: cpp\n");
  page("BOTH", "kind: example\nsteps: tiling, fusion\n");
  page("CUDA", "kind: example\nsteps: fusion\nlanguages: cuda\n");
  page("TILING", "kind: example\nsteps: tiling\n");
  page("GUIDE", "kind: guidance\n");
  scripted::server server([](const scripted::request&) { return scripted::says(good); });
  bench b(server, (folder / "k").string());
  b.vary(macro_micro(b.settings(), {"fusion"}, uniform_policy()));
  const std::string step = server.seen().back().body;
  for (const char* shown : {"Examples of this step", "PAGE_FUSION", "PAGE_BOTH", "PAGE_GUIDE"})
    CHECK(has(step, shown));
  for (const char* absent : {"PAGE_CUDA", "PAGE_TILING"}) CHECK(!has(step, absent));
  b.vary(llm_rewrite{b.settings()});
  const std::string other = server.seen().back().body;
  CHECK(has(other, "PAGE_GUIDE"));
  CHECK(!has(other, "PAGE_FUSION"));
}

TEST_CASE("macro and micro: what UCB learned is learned again from the record of its turns") {
  scripted::server server([](const scripted::request& r) {
    return scripted::says(code("  Y[0] = " + std::to_string(r.number) + ";"));
  });
  bench b(server);
  std::map<std::uint64_t, std::vector<model_call>> record;
  variation_services services = *b.request.services;
  services.record = [&](const model_call& call) { record[b.request.job].push_back(call); };
  b.request.services = std::make_shared<const variation_services>(services);
  const std::vector<std::string> types = {"tiling", "fusion", "packing", "unrolling"};
  const auto turn = [&](const macro_micro& op, std::uint64_t job) {
    b.request.job = job;
    b.notes.clear();
    rng random(job);
    const auto made = op.vary(b.request, random);
    observation seen;
    seen.job = job;
    seen.outcome = outcome::valid;
    seen.parent_score = 1;
    seen.score = has(b.notes, "[macro] packing") ? 2 : 1;
    op.observe(seen);
    return text_of(made);
  };
  const macro_micro first(b.settings(), types, ucb_policy());
  std::vector<std::string> proposals;
  for (std::uint64_t job = 1; job <= 30; ++job) proposals.push_back(turn(first, job));

  const std::size_t requests = server.requests();
  auto models = std::make_shared<language_models>(b.models->settings());
  const macro_micro second({.models = models}, types, ucb_policy());
  for (std::uint64_t job = 1; job <= 30; ++job) {
    models->recall(job, std::exchange(record[job], {}), true);
    CHECK(turn(second, job) == proposals[job - 1]);
    models->forget(job);
    CHECK(record[job].empty());
  }
  CHECK(server.requests() == requests);
  const auto picks = [&](const macro_micro& op) {
    std::string all;
    for (std::uint64_t job = 101; job <= 120; ++job) {
      turn(op, job);
      all += b.notes;
    }
    return all;
  };
  const std::string expected = picks(first);
  CHECK(picks(second) == expected);
  CHECK(picks(macro_micro(b.settings(), types, ucb_policy())) != expected);
}

TEST_CASE("summarize: what was noted reaches the next prompt, also of another operator") {
  scripted::server server([](const scripted::request& r) {
    if (r.number == 0) return scripted::says("<summary>TILES of 8 failed: crashed</summary>");
    return scripted::says(has(r.body, "TILES of 8 failed") ? good : "no");
  });
  bench b(server);
  CHECK(has(text_of(b.vary(summarize{b.settings()})), "X[i] + X[i]"));
  CHECK(has(text_of(b.vary(llm_rewrite{b.settings()})), "X[i] + X[i]"));
}

TEST_CASE("a program that is known, or the same but for comments, is refused before it is paid for") {
  scripted::server server([](const scripted::request& r) {
    if (r.number == 0) return scripted::says("```cpp\n// a new comment\n" + parent_text + "```");
    return scripted::says(has(r.body, "but for comments, spacing") ? good : "no");
  });
  bench b(server);
  CHECK(has(text_of(b.vary(llm_rewrite{b.settings()})), "X[i] + X[i]"));
  CHECK(similarity("a = b + c;", "a=b  + c; // x") == 1);
  CHECK(similarity("a = b + c;", "a = b + d;") < 1);
  CHECK(similarity("#define N 4 // kevo: {4, 8}", "#define N 4") < 1);
}

TEST_CASE("a program whose embedding is that of a relative is refused, or shown to a judge") {
  // The scripted embedding of a text is the direction of its count of '+'.
  std::size_t embedded = 0;
  std::string verdict;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (has(r.head, "/embeddings")) {
      std::string data;
      const auto begin = r.body.find("\"input\":[") + 9;
      std::size_t index = 0;
      for (std::size_t at = begin + 1; at < r.body.size(); ++index) {
        std::size_t end = at + 1;
        while (r.body[end] != '"') end += r.body[end] == '\\' ? 2U : 1U;
        const auto plus = std::count(r.body.begin() + static_cast<std::ptrdiff_t>(at),
                                     r.body.begin() + static_cast<std::ptrdiff_t>(end), '+');
        data += (index == 0 ? "" : ",") + std::string("{\"index\":") + std::to_string(index) +
                ",\"embedding\":[1," + std::to_string(plus - 2) + "]}";
        at = r.body.find('"', end + 1);
        if (at == std::string::npos || r.body.find(']', end) < at) break;
      }
      embedded += index + 1;
      return {.body = "{\"data\":[" + data + "],\"usage\":{\"prompt_tokens\":50}}", .tokens_in = 50};
    }
    if (has(r.body, "Would the machine do the same")) {
      const bool both = has(r.body, "Y[i] = 2 * X[i];") && has(r.body, "Y[i] = X[i] * 2;");
      return scripted::says(both ? "Hm.\n**Verdict:** " + verdict : "no");
    }
    const bool told = has(r.body, "means the same as one that was tried");
    return scripted::says(told ? good : code("  for (int64_t i = 0; i < N; ++i) Y[i] = X[i] * 2;"));
  });
  bench b(server);
  auto settings = b.models->settings();
  settings.models.push_back(settings.models.front());
  settings.models.back().name = "vectors";
  settings.models.back().weight = 0;
  settings.models.back().price = {.input = 1000};
  settings.models.push_back(settings.models.front());
  settings.models.back().name = "judge";
  settings.models.back().weight = 0;
  b.models = std::make_shared<language_models>(settings);
  double money = 0;
  std::vector<model_call> calls;
  variation_services services = *b.request.services;
  services.book = [&](const spending& s) { money += s.money; };
  services.record = [&](const model_call& c) { calls.push_back(c); };
  b.request.services = std::make_shared<const variation_services>(services);
  llm_settings with = b.settings();
  with.embeddings = "vectors";
  SUBCASE("without a judge the embedding decides") {
    CHECK(has(text_of(b.vary(llm_rewrite{with})), "X[i] + X[i]"));
    CHECK(server.requests() == 4);
    CHECK(embedded == 3);                  // the relative's vector is remembered
    CHECK(money == doctest::Approx(0.1));  // what the server told of two requests
    CHECK(calls[1].operator_name == "embeddings");
    CHECK(!has(calls[1].messages, "X[i]"));
  }
  SUBCASE("a judge that takes them for one") {
    with.judge = "judge";
    verdict = "same";
    CHECK(has(text_of(b.vary(llm_rewrite{with})), "X[i] + X[i]"));
    CHECK(has(b.notes, "[judge] against #3: the same"));
  }
  SUBCASE("a judge that does not") {
    with.judge = "judge";
    verdict = "different";
    CHECK(has(text_of(b.vary(llm_rewrite{with})), "X[i] * 2"));
    CHECK(has(b.notes, "[judge] against #3: another"));
  }
  SUBCASE("a judge that is asked by common tokens alone") {
    with.judge = "judge";
    with.embeddings.clear();
    with.judge_similarity = 0.3;
    verdict = "same";
    CHECK(has(text_of(b.vary(llm_rewrite{with})), "X[i] + X[i]"));
    CHECK(embedded == 0);
  }
  SUBCASE("a judge that need not be asked") {
    with.judge = "judge";
    with.embeddings.clear();
    with.judge_similarity = 0.99;
    CHECK(has(text_of(b.vary(llm_rewrite{with})), "X[i] * 2"));
    CHECK(server.requests() == 1);
  }
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
  CHECK(titles("stalls") == "Beta Alpha ");
  CHECK(server.requests() == 2);  // pages are embedded once
  CHECK(!has(server.seen()[1].body, "MEANT"));
  down = true;
  CHECK(titles("the words of nothing") == "Alpha Gamma ");  // by words alone
}

TEST_CASE("failures of the model cost the turn, and say why") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (r.number == 0) return {.status = 400, .body = R"({"error":{"message":"who are you"}})"};
    return scripted::says("no code here");
  });
  bench b(server);
  CHECK(text_of(b.vary(llm_rewrite{b.settings()})) ==
        "none: model: rejected: the server answered 400: who are you");
  CHECK(has(text_of(b.vary(llm_rewrite{b.settings()})),
            "no usable reply: Your reply holds no closed code block"));
}

TEST_CASE("an operator whose server refuses the key asks once, is exhausted, and says why") {
  scripted::server server([](const scripted::request&) -> scripted::answer {
    return {.status = 401, .body = R"({"error":{"message":"who are you"}})"};
  });
  bench b(server);
  for (int i = 0; i < 3; ++i) {
    const auto result = b.vary(llm_rewrite{b.settings()});
    CHECK(has(text_of(result), "none: model: unauthorized: the server answered 401: who are you"));
    CHECK(std::get<no_proposal>(result).exhausted);
  }
  CHECK(server.requests() == 1);
  // Whoever asks first within a turn: the reason is the model's, not that nothing was chosen.
  CHECK(has(text_of(b.vary(macro_micro(b.settings(), {"tiling", "fusion"}, model_policy()))),
            "none: model: unauthorized: the server answered 401"));
  CHECK(server.requests() == 1);
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
