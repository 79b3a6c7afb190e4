// timeout: 120
// What operators do when the model fails or refuses them.

#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "operators/llm/macro_micro.hpp"
#include "operators/llm/operators.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/operators/llm/replies.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

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
