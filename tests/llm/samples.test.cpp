// Several replies to one request: by one request where the server can, else by one each; booked, journaled
// and recorded each by itself.

#include <mutex>
#include <set>

#include <doctest/doctest.h>

#include "src/llm/openai.hpp"
#include "src/llm/openai_stream.hpp"
#include "src/llm/recorded_reply.hpp"
#include "tests/llm/asking.hpp"
#include "tests/support/has.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

/// A turn that remembers what is booked and journaled for it.
struct turn {
  std::mutex guard;
  std::vector<model_call> calls;
  spending booked;
  variation_request request;

  explicit turn(std::uint64_t job = 7) {
    variation_services s;
    s.book = [this](const spending& more) {
      const std::scoped_lock lock(guard);
      booked += more;
    };
    s.record = [this](const model_call& call) {
      const std::scoped_lock lock(guard);
      calls.push_back(call);
    };
    request.job = job;
    request.services = std::make_shared<const variation_services>(std::move(s));
  }
};

std::vector<std::string> texts_of(const std::vector<chat_reply>& replies) {
  std::vector<std::string> texts;
  for (const auto& one : replies) texts.push_back(one.content);
  return texts;
}

const std::vector<std::string> four = {"zero", "one one", "two", "three"};

}  // namespace

TEST_CASE("one request brings all replies; each is a record of its own in one group") {
  scripted::server server([](const scripted::request& r) {
    return scripted::replies_wanted(r.body) == 4 ? scripted::says_each(four, 20, 10)
                                                 : scripted::says("alone");
  });
  auto models = models_of(server, 0);
  turn t;
  CHECK(texts_of(models.ask({.operator_name = "op"}, hello, 4, t.request)) == four);
  CHECK(server.requests() == 1);
  REQUIRE(t.calls.size() == 4);
  std::int64_t tokens_out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const model_call& call = t.calls[i];
    CHECK(call.group == "7");
    CHECK(call.turn == 0);
    CHECK(call.sample == static_cast<std::int64_t>(i));
    CHECK(call.messages == t.calls[0].messages);
    CHECK(call.request_key == "op/small/" + std::to_string(i));
    CHECK(reply_of_json(call.response).content == four[i]);
    CHECK(sample_of_json(call.sampling) == call.sample);
    CHECK(has(call.sampling, "\"samples\":4"));
    tokens_out += call.tokens_out;
  }
  // The prompt is charged once, and the sums are the server's.
  CHECK(t.booked.tokens_in == 20);
  CHECK(tokens_out == 10);
  CHECK(t.booked.money == doctest::Approx(0.02 + 0.1));
  CHECK(models.account().spent == doctest::Approx(t.booked.money));
  CHECK(models.account().reserved == doctest::Approx(0));
}

TEST_CASE("replies that a stream mixes are told apart") {
  std::string body;
  for (const char* part : {"ab", "cd"}) {
    for (int i = 2; i-- > 0;) {
      body += "data: {\"model\":\"s\",\"choices\":[{\"index\":" + std::to_string(i) +
              ",\"delta\":{\"content\":\"" + part + std::to_string(i) + "\"}}]}\n\n";
    }
  }
  for (const char* end :
       {"0,\"delta\":{},\"finish_reason\":\"stop\"", "1,\"delta\":{},\"finish_reason\":\"length\""})
    body += "data: {\"choices\":[{\"index\":" + std::string(end) + "}]}\n\n";
  chat_stream stream;
  stream.feed(body);
  const chat_reply reply = stream.finish();
  CHECK(reply.ok());
  CHECK(reply.content == "ab0cd0");
  REQUIRE(reply.further.size() == 1);
  CHECK(reply.further[0].content == "ab1cd1");
  CHECK(reply.further[0].status == reply_status::truncated);
  CHECK(reply.further[0].model == "s");
}

TEST_CASE("a server that gives one reply, or refuses n, is asked for each by itself, and only once for all") {
  bool refuses = false;
  SUBCASE("it ignores n") {
    refuses = false;
  }
  SUBCASE("it refuses n") {
    refuses = true;
  }
  std::atomic<int> several = 0;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (scripted::replies_wanted(r.body) > 1) {
      ++several;
      if (refuses)
        return {.status = 400, .body = "{\"error\":{\"message\":\"only one choice is supported\"}}"};
    }
    return scripted::says(std::to_string(r.number), 20, 10);
  });
  auto models = models_of(server, 0);
  for (int again = 0; again < 2; ++again) {
    turn t;
    const auto replies = models.ask({.operator_name = "op"}, hello, 3, t.request);
    const auto texts = texts_of(replies);
    CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == 3);
    for (const auto& one : replies) CHECK(one.ok());
    CHECK(t.calls.size() == 3);
    CHECK(t.booked.tokens_out == 30);
  }
  CHECK(several == 1);
  CHECK(server.requests() == (refuses ? 7 : 6));
}

TEST_CASE("a cassette records every reply and gives them back, in their order") {
  const shell::scratch folder;
  const std::string path = (folder / "tape.yaml").string();
  {
    scripted::server server([](const scripted::request& r) {
      return scripted::replies_wanted(r.body) == 4 ? scripted::says_each(four) : scripted::says("alone");
    });
    auto models = models_of(server, 0, cassette_mode::record, path);
    turn t;
    models.ask({.operator_name = "op"}, hello, 4, t.request);
    CHECK(models.ask({.operator_name = "op"}, hello, t.request).content == "alone");
  }
  CHECK(cassette(path, cassette_mode::replay).size() == 5);
  language_models again(
      {.models = {{.name = "small",
                   .server = {.url = "http://127.0.0.1:1/v1", .dialect = {.model = "m", .stream = false}}}},
       .mode = cassette_mode::replay,
       .cassette_path = path});
  turn t;
  CHECK(texts_of(again.ask({.operator_name = "op"}, hello, 4, t.request)) == four);
  CHECK(again.ask({.operator_name = "op"}, hello, t.request).content == "alone");
  CHECK(again.account().changed == 0);
  const auto missing = again.ask({.operator_name = "op"}, hello, 2, t.request);
  REQUIRE(missing.size() == 2);
  CHECK(missing[1].status == reply_status::unrecorded);
}

TEST_CASE("what a killed turn had of its replies is not asked again") {
  std::atomic<std::size_t> wanted = 0;
  scripted::server server([&](const scripted::request& r) {
    wanted = scripted::replies_wanted(r.body);
    return scripted::says_each({"new a", "new b"});
  });
  auto models = models_of(server, 0);
  turn before;
  std::vector<model_call> kept;
  for (const std::int64_t sample : {3, 1}) {
    kept.push_back({.operator_name = "op",
                    .model = "small",
                    .sample = sample,
                    .messages = messages_json(hello.messages),
                    .response = reply_json({.content = "kept " + std::to_string(sample)})});
  }
  models.recall(7, kept, false);
  turn t;
  CHECK(texts_of(models.ask({.operator_name = "op"}, hello, 4, t.request)) ==
        std::vector<std::string>{"new a", "kept 1", "new b", "kept 3"});
  CHECK(wanted == 2);
  CHECK(t.calls.size() == 2);
}

TEST_CASE("a failure that all share ends the question") {
  scripted::server server([](const scripted::request&) -> scripted::answer { return {.status = 401}; });
  auto models = models_of(server, 0);
  turn t;
  const auto replies = models.ask({.operator_name = "op"}, hello, 3, t.request);
  REQUIRE(replies.size() == 3);
  for (const auto& one : replies) CHECK(one.status == reply_status::unauthorized);
  CHECK(server.requests() == 1);
  CHECK(t.calls.size() == 1);
}
