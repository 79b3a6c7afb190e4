// timeout: 120
// Programs that are known, or mean the same as a known one, are refused before they are evaluated.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "operators/llm/conversation.hpp"
#include "operators/llm/operators.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/operators/llm/replies.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

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
