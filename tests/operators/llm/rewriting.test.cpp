// timeout: 120
// The operators that send a prompt and take a program, against a scripted server that succeeds only if the
// prompt holds what is distinctive of each.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "operators/llm/edits.hpp"
#include "operators/llm/macro_micro.hpp"
#include "operators/llm/operators.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/operators/llm/replies.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

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

TEST_CASE("rewrite: a program that was begun in the reasoning and not finished is none") {
  scripted::server server([](const scripted::request&) {
    return scripted::says("Perhaps\n```cpp\nint begun;\n\nNo, the loop has to be unrolled.\n\n" + good);
  });
  bench b(server);
  const std::string made = text_of(b.vary(llm_rewrite{b.settings()}));
  CHECK(has(made, "X[i] + X[i]"));
  CHECK(!has(made, "int begun;"));
}
