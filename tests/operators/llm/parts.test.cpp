// timeout: 120
// What the operators are made of: edits, prompts, pages of knowledge.

#include <filesystem>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "operators/llm/directed.hpp"
#include "operators/llm/edits.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/prompt.hpp"
#include "operators/llm/sections.hpp"
#include "src/base/text/utf8.hpp"
#include "src/llm/skills.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

TEST_CASE("edits: tolerant of white space, strict about everything else") {
  const std::string source = "int a;\n  if (x) {\n    y();\n  }\nint a;\nlast\n";
  std::string why;
  const auto edit = [&](const std::string& reply) {
    why.clear();
    const auto edits = parse_edits(reply, why);
    return why.empty() ? apply_edits(source, edits, why) : source;
  };
  const auto block = [](const std::string& a, const std::string& b) {
    return "<<<<<<< SEARCH\n" + a + "=======\n" + b + ">>>>>>> REPLACE\n";
  };
  CHECK(edit(block("last  \n", "first\n")) == "int a;\n  if (x) {\n    y();\n  }\nint a;\nfirst\n");
  CHECK(edit(block("if (x) {\n  y();\n}\n", "if (z) {\n  w();\n}\n")) ==
        "int a;\n  if (z) {\n    w();\n  }\nint a;\nlast\n");
  edit(block("int a;\n", "int b;\n"));
  CHECK(has(why, "fits in 2 places (lines 1 and 5): give more of the text around it"));
  edit(block("  if (x) {\n    z();\n", "q\n"));
  CHECK(has(why, "nearest place is line 2; its line 3 differs"));
  edit("<<<<<<< SEARCH\nlast\n");
  CHECK(has(why, "ends without ======="));
  edit("just words");
  CHECK(has(why, "holds no edit"));
  edit(block("", "x\n"));
  CHECK(has(why, "empty search part"));
  CHECK(edit("```diff\n--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -99,2 +98,3 @@\n   if (x) {\n-    y();\n+    "
             "w();\n+    v();\n```\n") == "int a;\n  if (x) {\n    w();\n    v();\n  }\nint a;\nlast\n");
  CHECK(edit(block("last\n", "mid\n") + block("mid\n", "end\n")) ==
        "int a;\n  if (x) {\n    y();\n  }\nint a;\nend\n");
}

TEST_CASE("edits: a search that is no whole line replaces a part of one") {
  const std::string source = "int a = 4;\nint b = f(a, 4);\nint c = f(b, 4);\n";
  std::string why;
  const auto edit = [&](const std::string& search, const std::string& replace) {
    why.clear();
    return apply_edits(source, {edit_of(search, replace)}, why);
  };
  CHECK(edit("f(a, 4)", "g(a)") == "int a = 4;\nint b = g(a);\nint c = f(b, 4);\n");
  CHECK(edit("a, 4);\nint c", "a, 5);\n\nint d") == "int a = 4;\nint b = f(a, 5);\n\nint d = f(b, 4);\n");
  CHECK(edit(" = 4", "") == "int a;\nint b = f(a, 4);\nint c = f(b, 4);\n");
  CHECK(why.empty());
  CHECK(edit("4", "8") == source);
  CHECK(has(why, "fits in 3 places (lines 1, 2 and 3)"));
  CHECK(edit("f(z", "g") == source);
  CHECK(has(why, "does not match the source"));
  CHECK(edit("======= \n", "x") == source);  // what an agent gives is no block, whatever it holds
  CHECK(has(why, "does not match the source"));
}

TEST_CASE("a task that a program judges is told by its description, without sizes and tolerance") {
  task packing;
  packing.name = "packing";
  packing.description = "Pack it small.";
  const std::string text = task_section(packing, "cpp");
  CHECK(has(text, "## Task: packing"));
  CHECK(has(text, "Pack it small."));
  CHECK(has(text, "larger is better"));
  CHECK_FALSE(has(text, "accepted if"));
  CHECK_FALSE(has(text, "Timed on"));
  CHECK_FALSE(has(text, "extern"));
}

TEST_CASE("prompts: trimmed by priority, never the parent, and they say what is missing") {
  const std::string file = "=== system\nS\n=== user\n{{parent}}\n{{memory}}\n{{inspirations}}\nend\n";
  const std::string big(30000, 'm');
  const std::vector<prompt_section> sections = {{"parent", std::string(20000, 'p'), 100, true},
                                                {"memory", big, 30},
                                                {"inspirations", std::string(9000, 'i'), 20}};
  const auto all = assemble("p.md", file, sections, 100000);
  CHECK(all.cut.empty());
  CHECK(all.messages[0].role == "system");
  CHECK(has(all.messages[1].content, big));
  const auto less = assemble("p.md", file, sections, 10000);
  REQUIRE(less.cut.size() == 2);
  CHECK(less.cut[0] == "inspirations (all of it)");
  CHECK(has(less.cut[1], "memory ("));
  CHECK(has(less.messages[1].content, std::string(20000, 'p')));
  CHECK(has(less.messages[1].content, "(Left out for length: inspirations"));
  CHECK(less.messages[1].content.size() < 30500);
  CHECK(has(assemble("p.md", file, sections, 1).messages[1].content, std::string(20000, 'p')));
  try {
    assemble("p.md", "=== user\n{{memry}}", sections, 10);
    FAIL("accepted");
  } catch (const error& wrong) {
    CHECK(has(wrong.what(), "did you mean 'memory'"));
  }
  CHECK(fenced("a ``` b") == "````\na ``` b\n````\n");
  CHECK(shipped_prompts().size() >= 9);
  bench b(scripted::server([](const scripted::request&) { return scripted::says("x"); }));
  for (const auto& name : shipped_prompts())
    CHECK_NOTHROW(assemble(name, shipped_prompt(name), sections_of(b.request), 100000));
  const shell::scratch folder;
  shell::write_file(folder / "llm_diff.md", "=== user\nmine {{parent}}\n");
  CHECK(prompt_text(folder.string(), "llm_diff") == "=== user\nmine {{parent}}\n");
  CHECK(has(prompt_text(folder.string(), "llm_rewrite"), "{{parent}}"));
  CHECK_THROWS_AS(prompt_text("", "nothing"), error);
}

TEST_CASE("summaries and shortened texts hold whole characters only") {
  for (const std::string character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    // Each way in which the limit of 160 bytes can divide a character, or not divide it.
    for (std::size_t before = 0; before <= character.size(); ++before) {
      CAPTURE(before);
      std::string text(160 - before, 'x');
      const std::string begin = text;
      text += character + character + " and more";
      CHECK(summary_of("Summary: " + text) == begin + (before == character.size() ? character : ""));
    }
    std::string many;
    for (int i = 0; i < 200; ++i) many += character;
    for (std::size_t limit = 100; limit < 112; ++limit) {
      CAPTURE(limit);
      const std::string made = shortened(many, limit);
      CHECK(made.size() <= limit);
      CHECK(made.starts_with(character));
      CHECK(made.ends_with(character));
      CHECK(as_utf8(made) == made);
    }
  }
  // Nothing is taken from what fits.
  CHECK(summary_of("Summary: " + std::string(158, 'x') + "\xc3\xa9") == std::string(158, 'x') + "\xc3\xa9");
}

TEST_CASE("knowledge: the shipped pages are whole, and the right ones are found") {
  const std::string folder = KEVO_SOURCE_DIR "/configs/knowledge";
  const knowledge_base shipped(folder, "");
  CHECK(shipped.size() >= 20);
  for (const auto& page : shipped.fitting({.machine = "avx2 avx512f neon sm_90a"}, 100)) {
    CAPTURE(page.id);
    CHECK(!page.source.empty());
    CHECK(page.text.size() > 200);
    CHECK(page.text.size() < 2200);
    CHECK(!page.topics.empty());
  }
  CHECK(shipped.search("register tile of a matrix product", {.language = "cpp", .hardware = "cpu"}, 1)
            .front()
            .id == "cpu/register_tiling");
  CHECK(
      shipped.search("shared memory bank conflict", {.language = "cuda", .hardware = "gpu"}, 1).front().id ==
      "hopper/bank_conflicts");
  CHECK(shipped.search("tl.dot matrix product tiles", {.language = "triton", .hardware = "gpu"}, 1)
            .front()
            .id == "triton/matmul");
  CHECK(shipped.search("arange power of 2", {.language = "triton", .hardware = "gpu", .phase = "repair"}, 1)
            .front()
            .id == "triton/compile_errors");
  CHECK(shipped
            .search("load_inline CUDA kernel", {.language = "python", .hardware = "gpu", .phase = "draft"}, 1)
            .front()
            .id == "torch/inline_cuda");
  CHECK(shipped.search("undefined symbol", {.language = "python", .hardware = "gpu", .phase = "repair"}, 1)
            .front()
            .id == "torch/build_errors");
  CHECK(shipped.search("load_inline", {.language = "python", .hardware = "cpu"}, 5).empty());
  for (const auto& page : shipped.search("memory bandwidth", {.language = "cpp", .hardware = "cpu"}, 50))
    CHECK(!page.id.starts_with("hopper/"));
  for (const char* step : {"tiling", "fusion", "reordering", "pipelining"}) {
    const auto cpu = shipped.examples(step, {.language = "cpp", .hardware = "cpu"});
    const auto gpu = shipped.examples(step, {.language = "cuda", .hardware = "gpu"});
    const auto triton = shipped.examples(step, {.language = "triton", .hardware = "gpu"});
    REQUIRE(cpu.size() == 1);
    REQUIRE(gpu.size() == 1);
    REQUIRE(triton.size() == 1);
    CHECK(triton.front().id == std::string("examples/") + step + "_triton");
    CHECK(cpu.front().id == std::string("examples/") + step + "_cpp");
    CHECK(gpu.front().id == std::string("examples/") + step + "_cuda");
  }
  CHECK(shipped.search("\"; DROP TABLE pages; --", {}, 5).size() <= 5);
  CHECK(shipped.search("", {}, 5).empty());
}

TEST_CASE("knowledge: pages about the task and for the machine, and none rather than others") {
  const knowledge_base shipped(KEVO_SOURCE_DIR "/configs/knowledge", "");
  const auto found = [&](const std::string& query, const knowledge_filter& filter) {
    std::string ids;
    for (const auto& page : shipped.search(query, filter, 2)) ids += page.id + " ";
    return ids;
  };
  const knowledge_filter cpu{
      .language = "cpp", .hardware = "cpu", .machine = "AVX2, FMA, AVX-512F", .phase = "tune"};
  const std::string conv2d =
      "conv2d conv2d O[n, k, p, q] = sum over c, r, s of I[n, c, p S + r, q S + s] F[k, c, r, s], with "
      "square R x R "
      "filters, stride S and no padding. float32, NCHW, one thread.";
  CHECK(has(found(conv2d, cpu), "cpu/convolution"));
  CHECK(has(found(conv2d + " winograd", cpu), "cpu/winograd"));
  CHECK(has(
      found(
          "softmax softmax Y[i, j] = exp(X[i, j]) / sum_k exp(X[i, k]) for every row i, float32, one thread.",
          cpu),
      "cpu/fast_exp"));
  CHECK(has(found("reduction", cpu), "cpu/reductions"));
  CHECK(has(found("buffer allocation", cpu), "cpu/allocation"));
  CHECK(found("weather forecast of every row, float32, one thread, in the order of their use", cpu).empty());
  CHECK(found("tree_walk traversal Nodes of a tree are visited in their order; the result is their number.",
              cpu)
            .empty());
  // A page is for machines that have what it needs.
  const auto vectors = [&](const std::string& machine) {
    std::string ids;
    for (const auto& page :
         shipped.search("simd", {.language = "cpp", .hardware = "cpu", .machine = machine}, 9))
      ids += page.id + " ";
    return ids;
  };
  CHECK(has(vectors("AVX2, FMA"), "cpu/avx2"));
  CHECK(!has(vectors("AVX2, FMA"), "cpu/avx512"));
  CHECK(has(vectors("AVX2, FMA, AVX-512F"), "cpu/avx512"));
  CHECK(has(vectors("NEON"), "cpu/neon"));
  CHECK(has(vectors(""), "cpu/vector_types"));
  CHECK(!has(vectors(""), "cpu/avx2"));
  const knowledge_filter hopper{.language = "cuda", .hardware = "gpu", .machine = "sm_90a"};
  CHECK(has(found("gemm hgemm C = A transpose(B), all row major bfloat16, sums in float32", hopper),
            "hopper/wgmma"));
  CHECK(has(found("attention bfloat16 softmax", hopper), "hopper/attention"));
  CHECK(!has(found("attention bfloat16 softmax", {.language = "cuda", .hardware = "gpu", .machine = "sm_80"}),
             "hopper/attention"));
}

TEST_CASE("knowledge: the code in pages for processors compiles") {
  const knowledge_base shipped(KEVO_SOURCE_DIR "/configs/knowledge", "");
  const shell::scratch folder;
  int compiled = 0;
  for (const auto& page :
       shipped.fitting({.language = "cpp", .hardware = "cpu", .machine = "avx2 avx512f neon"}, 100)) {
    const auto code = code_of(page.text, "cpp");
    const bool neon = page.id == "cpu/neon";
#if defined(__x86_64__)
    if (neon) continue;
#else
    if (page.needs != std::vector<std::string>{"neon"} && !page.needs.empty()) continue;
#endif
    if (!code) continue;
    const auto file = folder / "page.cpp";
    shell::write_file(file, *code);
    std::string flags = "-std=c++20 -Wall -Wextra -Werror -fsyntax-only";
    if (!page.needs.empty() && !neon) flags += " -mfma -m" + page.needs.front();
    const auto made = shell::run({"/bin/sh", "-c", "g++ " + flags + " " + file.string() + " 2>&1"});
    CHECK_MESSAGE(made.code == 0, page.id << ": " << made.out);
    ++compiled;
  }
#if defined(__x86_64__)
  CHECK(compiled >= 3);
#endif
}

TEST_CASE("prompts for programs of PyTorch say where they run") {
  task t;
  t.name = "twice";
  t.outputs = {{.name = "y", .shape = {}, .dtype = "float32"}};
  t.reference = reference_source{
      "python", single_file_program("python", "reference.py", "class Model: pass\n"), "module", "Model"};
  candidate_snapshot one;
  one.program = std::make_shared<const program>(single_file_program("python", "kernel.py", "x = 1\n"));
  CHECK(place_of(one).empty());
  evaluation e;
  one.evaluation = std::make_shared<const evaluation>(e);
  CHECK(place_of(one).empty());
  e.context["vector_instructions"] = "AVX2";
  one.evaluation = std::make_shared<const evaluation>(e);
  CHECK(place_of(one) == "cpu");
  e.context = {{"architecture", "sm_90a"}};
  one.evaluation = std::make_shared<const evaluation>(e);
  CHECK(place_of(one) == "gpu");
  CHECK(has(task_section(t, "python", "gpu"), "ModelNew(torch.nn.Module), for a GPU, on which"));
  CHECK(has(task_section(t, "python", "cpu"), "ModelNew(torch.nn.Module), for the CPU."));
  CHECK(!has(task_section(t, "python"), "for the CPU"));
  CHECK(!has(task_section(t, "python"), "for a GPU"));
}

TEST_CASE(
    "skills: a page for a success that was confirmed, gone when its candidate falls, and written once") {
  const shell::scratch own;
  const auto base = std::make_shared<knowledge_base>("", own.string());
  skill_tracker book(base);
  const auto told = [](candidate_id who, outcome what) {
    evaluation e;
    e.outcome = what;
    e.device = "a device";
    return event{
        1, 0,
        evaluation_told{1, who, evaluation_stage::confirmed, std::make_shared<const evaluation>(e), {}}};
  };
  const auto crowned = [](candidate_id who, bool confirmed) {
    champion_crowned c{who, 1.3, {1.2, 1.4}, {}};
    if (!confirmed) c.verdict.reason = verdict_reason::wide;
    return event{2, 0, c};
  };
  const auto observed = [](std::uint64_t job, candidate_id who, double score) {
    observation seen;
    seen.job = job;
    seen.candidate = who;
    seen.outcome = outcome::valid;
    seen.parent_score = 1;
    seen.score = score;
    return seen;
  };
  for (std::uint64_t job = 7; job < 11; ++job) book.attempt(job, {.summary = "unroll"});
  book.observe(observed(7, 1, 1.2));
  book.observe(observed(8, 2, 1.05));  // too little
  book.observe(observed(9, 3, 1.3));
  book.observe(observed(10, 4, 1.4));
  CHECK(!book.take_due());  // nothing is confirmed
  for (const candidate_id who : {1U, 2U, 4U}) {
    book.observe_event(told(who, outcome::valid));
    book.observe_event(crowned(who, true));
  }
  book.observe_event(crowned(3, false));  // undecided
  CHECK(!book.take_due("Candidate #3 has"));
  const auto second = book.take_due("This is what Candidate #4 has done");
  REQUIRE(second.has_value());
  CHECK(second->candidate == 4);
  CHECK(second->device == "a device");
  const auto first = book.take_due();
  REQUIRE(first.has_value());
  CHECK(first->candidate == 1);
  CHECK(!book.take_due());

  const knowledge_page page{.title = "Unroll by four", .source = "kevo", .text = "It helped."};
  const knowledge_page other{.title = "Pack the rows", .source = "kevo", .text = "That, too."};
  book.learn(*first, page);
  CHECK(base->size() == 1);
  CHECK(base->search("unroll", {}, 1).front().kind == "skill");
  CHECK(knowledge_base(own.string(), "").search("unroll", {}, 1).front().kind == "skill");
  // A candidate that falls while its page is written leaves none.
  book.observe_event(told(4, outcome::incorrect));
  book.learn(*second, other);
  CHECK(base->size() == 1);
  // One that falls later takes its page along.
  book.observe_event(told(1, outcome::incorrect));
  CHECK(base->size() == 0);
  CHECK(base->search("unroll", {}, 1).empty());
  CHECK(knowledge_base(own.string(), "").size() == 0);

  // A resumed run learns it again, and a replay learns it without writing; neither has it twice.
  base->add_skill(page);
  knowledge_base resumed("", own.string());
  resumed.add_skill(page);
  CHECK(resumed.size() == 1);
  const shell::scratch untouched;
  knowledge_base replayed("", (untouched / "none").string(), skill_writing::off);
  replayed.add_skill(page);
  CHECK(replayed.size() == 1);
  CHECK(!std::filesystem::exists(untouched / "none"));
}
