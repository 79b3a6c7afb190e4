// timeout: 120
// The operator that picks a macro step and asks for its realization, against a scripted server.

#include "operators/llm/macro_micro.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "operators/llm/operators.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/operators/llm/replies.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

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
  page("GUIDE", "kind: guidance\ntopics: elementwise\n");
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

TEST_CASE("macro and micro: the steps of a kernel are few, by nests of loops or functions, and explained") {
  const auto regions = [](const std::string& language, const std::string& text) {
    std::vector<std::string> all;
    for (const auto& one : actions_of(single_file_program(language, "kernel", text), {"tiling"}))
      all.push_back(one.region);
    return all;
  };
  CHECK(
      regions(
          "cpp",
          "void run() {\n  for (int i = 0; i < 9; ++i) {\n#pragma omp simd\n    for (int j = 0; j < 9; ++j)\n"
          "      while (true) f();\n  }\n  for (int k = 0; k < 3; ++k) g();\n}\n") ==
      std::vector<std::string>{"line 2: for (int i = 0; i < 9; ++i) {",
                               "line 7: for (int k = 0; k < 3; ++k) g();"});
  CHECK(regions("python",
                "class ModelNew:\n    def __init__(self):\n        pass\n    def forward(self, x):\n"
                "        return x\n") ==
        std::vector<std::string>{"line 2: def __init__(self):", "line 4: def forward(self, x):"});
  CHECK(regions("cpp", "int a;\n") == std::vector<std::string>{"the whole file"});

  std::string prompt;
  scripted::server server([&](const scripted::request& r) {
    if (has(r.body, "Steps to choose from")) prompt = r.body;
    return scripted::says("Step: 3");
  });
  bench b(server);
  b.request.parents = {candidate(3, "void run() {\n  for (;;) f();\n  for (;;) g();\n}\n", 1.5)};
  b.vary(macro_micro(b.settings(), {"tiling", "vectorization"}, model_policy()));
  CHECK(has(prompt, "P1 line 2: for (;;) f();\\nP2 line 3: for (;;) g();\\n"));
  CHECK(
      has(prompt, "tiling, work in blocks whose data stay in registers or in a cache: 1 at P1; 2 at P2\\n"));
  CHECK(has(prompt, ": 3 at P1; 4 at P2\\nstop, no step promises a gain: 5\\n"));
  CHECK(has(b.notes, "[macro] vectorization of line 2"));
  CHECK(has(server.seen().back().body,
            "Step: vectorization of line 2: for (;;) f();\\n(vectorization: use the widest"));
}
