// timeout: 120
// What operators do when the model fails or refuses them.

#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "operators/llm/macro_micro.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/server_limits.hpp"
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

TEST_CASE("a reply that was cut is told so and asked for again, and is no attempt") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (r.number == 0) return scripted::says("Let me think about", 10, 20, "length");
    if (r.number == 1) return scripted::says("");
    return has(r.body, "was cut: a reply has at most 32768 tokens, reasoning included") &&
                   has(r.body, "held neither text nor a tool call")
               ? scripted::says(good)
               : scripted::says("lost");
  });
  bench b(server);
  llm_settings with = b.settings();
  with.attempts = 1;
  CHECK(has(text_of(b.vary(llm_rewrite{with})), "X[i] + X[i]"));
  CHECK(server.requests() == 3);
}

TEST_CASE("a model whose replies are all cut costs the attempts and two more") {
  scripted::server server(
      [](const scripted::request&) { return scripted::says("Let me think about", 10, 20, "length"); });
  bench b(server);
  CHECK(has(text_of(b.vary(llm_rewrite{b.settings()})), "no usable reply: Your last reply was cut"));
  CHECK(server.requests() == 4);
}

TEST_CASE("a server that names a lower limit of replies is asked again with that") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (has(r.body, "\"max_tokens\":32768"))
      return {.status = 400,
              .body =
                  R"({"error":{"message":"max_tokens is too large: 32768. This model supports at most 16384 )"
                  R"(completion tokens, whereas you provided 32768."}})"};
    return has(r.body, "\"max_tokens\":16384") ? scripted::says(good) : scripted::says("lost");
  });
  bench b(server);
  CHECK(has(text_of(b.vary(llm_rewrite{b.settings()})), "X[i] + X[i]"));
  CHECK(server.requests() == 2);
}

TEST_CASE("limits are read from the refusals of servers") {
  struct refusal {
    const char* text;
    std::int64_t context;
    std::int64_t reply;
  };
  const refusal all[] = {
      {"This model's maximum context length is 16384 tokens. However, you requested 33000 tokens (232 in the "
       "messages, 32768 in the completion).",
       16384, 0},
      {"'max_tokens' or 'max_completion_tokens' is too large: 32768. This model's maximum context length is "
       "16384 "
       "tokens and your request has 3000 input tokens (32768 > 16384 - 3000).",
       16384, 0},
      {"max_tokens is too large: 32768. This model supports at most 16384 completion tokens", 0, 16384},
      {"prompt is too long: 213462 tokens > 200000 maximum", 200000, 0},
      {"max_tokens: 32768 > 8192, which is the maximum allowed number of output tokens for m", 0, 8192},
      {"input length and `max_tokens` exceed context limit: 190000 + 32768 > 200000, decrease input length",
       200000, 0},
      {"the request exceeds the available context size (16384 tokens), try increasing it", 16384, 0},
      {"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 0},
      {"The input (20000 tokens) is longer than the model's context length (16,384 tokens).", 16384, 0},
      {"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`", 0, 8192},
      {"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 0, 8192},
      {"who are you", 0, 0}};
  for (const auto& one : all) {
    CAPTURE(one.text);
    const server_limits found = limits_in(one.text);
    CHECK(found.context == one.context);
    CHECK(found.reply == one.reply);
    CHECK(found.too_long == (one.context > 0));
  }
  CHECK(limits_in("code: context_length_exceeded").too_long);
}
