// timeout: 120
// The models of a run against a scripted server: the cap on money, cassettes, which model is asked.

#include <chrono>
#include <set>
#include <thread>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/vary/adaptive_pursuit.hpp>
#include <kevo/vary/exp3.hpp>
#include <kevo/vary/thompson.hpp>
#include <kevo/vary/ucb1.hpp>

#include "src/llm/language_models.hpp"
#include "src/llm/recorded_reply.hpp"
#include "tests/llm/asking.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;
using namespace std::chrono_literals;

TEST_CASE("the money cap holds with calls in flight, and what was spent is booked") {
  scripted::server server([](const scripted::request&) {
    auto a = scripted::says("x", 20, 10);
    a.delay = 20ms;
    return a;
  });
  // A call is at most about 17 + 100 tokens: 0.017 + 1.0; it turns out to cost 0.02 + 0.1.
  auto models = models_of(server, 3.0);
  std::mutex guard;
  double booked = 0;
  std::size_t recorded = 0;
  variation_request owner;
  variation_services services;
  services.book = [&](const spending& s) {
    const std::scoped_lock lock(guard);
    booked += s.money;
  };
  services.record = [&](const model_call& c) {
    const std::scoped_lock lock(guard);
    recorded += c.messages.find("be brief") != std::string::npos ? 1U : 0U;
  };
  owner.services = std::make_shared<const variation_services>(services);
  chat_request small = hello;
  small.sampling.max_tokens = 100;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 10; ++k)
          refused +=
              models.ask({.operator_name = "t"}, small, owner).status == reply_status::over_budget ? 1 : 0;
      });
    }
  }
  CHECK(refused > 0);
  CHECK(server.requests() > 10);
  CHECK(booked == doctest::Approx(0.12 * static_cast<double>(server.requests())));
  CHECK(models.account().spent == doctest::Approx(booked));
  CHECK(models.account().spent <= 3.0);
  CHECK(models.account().reserved == doctest::Approx(0));
  CHECK(recorded == 80);
}

TEST_CASE("a cassette answers without a server, names a changed request, and says what it lacks") {
  const shell::scratch folder;
  const std::string path = (folder / "deep/tape.yaml").string();
  const std::vector<std::string> texts = {
      "plain\ntext\n", "  indented first", "tail\n\n", "trailing \nspace",     "tab\there", "ünïcode",
      "# hash",        "x: {a: [1",        "",         "quote \" and \\ back", "cr\r\nlf"};
  std::vector<std::string> got;
  {
    scripted::server server(
        [&](const scripted::request& r) { return scripted::says(texts[r.number], 3, 4); });
    auto models = models_of(server, 0, cassette_mode::record, path);
    for (std::size_t i = 0; i < texts.size(); ++i)
      got.push_back(models.ask({.operator_name = "op"}, hello, {}).content);
    CHECK(got == texts);
  }
  language_models again({.models = {{.name = "small", .server = {.url = "http://127.0.0.1:1/v1"}}},
                         .mode = cassette_mode::replay,
                         .cassette_path = path});
  std::string notes;
  variation_services services;
  services.note = [&](const std::string& text) { notes += text; };
  variation_request owner;
  owner.services = std::make_shared<const variation_services>(services);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const chat_reply reply = again.ask({.operator_name = "op"}, hello, owner);
    CHECK(reply.content == texts[i]);
    CHECK(reply.status == (texts[i].empty() ? reply_status::empty : reply_status::ok));
    CHECK(reply.tokens_out == 4);
  }
  CHECK(notes.empty() == false);  // the dialect's model name is part of the request, and it is another here
  CHECK(again.account().changed == texts.size());
  const chat_reply none = again.ask({.operator_name = "op"}, hello, owner);
  CHECK(none.status == reply_status::unrecorded);
  CHECK(none.detail.find("op/small/11") != std::string::npos);
  CHECK_THROWS_AS(cassette((folder / "none.yaml").string(), cassette_mode::replay), error);
}

TEST_CASE("a cassette written by people: operators share a sequence, and arguments of tools are maps") {
  const shell::scratch folder;
  const std::string path = (folder / "tape.yaml").string();
  shell::write_file(path,
                    "calls: {programs: [one, two/later], plans: [two/first]}\n"
                    "replies:\n"
                    "  - {operator: programs, model: small, ordinal: 0, content: first}\n"
                    "  - {operator: programs, model: small, ordinal: 1, content: second}\n"
                    "  - {operator: programs, model: small, ordinal: 2, content: third}\n"
                    "  - {operator: plans, model: small, ordinal: 0, content: plan}\n"
                    "  - operator: three\n"
                    "    model: small\n"
                    "    ordinal: 0\n"
                    "    tool_calls:\n"
                    "      - {name: write_file, arguments: {path: a.cpp, text: \"x\\ny\"}}\n");
  const models_settings settings{.models = {{.name = "small", .server = {.url = "http://127.0.0.1:1/v1"}}},
                                 .mode = cassette_mode::replay,
                                 .cassette_path = path};
  std::vector<std::string> keys;
  variation_services services;
  services.record = [&](const model_call& call) { keys.push_back(call.request_key); };
  variation_request owner;
  owner.services = std::make_shared<const variation_services>(services);
  language_models models(settings);
  const auto said = [&](const char* operator_name, std::int64_t turn) {
    return models.ask({.operator_name = operator_name, .turn = turn}, hello, owner).content;
  };
  CHECK(said("one", 0) == "first");
  CHECK(said("two", 0) == "plan");
  CHECK(said("two", 1) == "second");
  const chat_reply tools = models.ask({.operator_name = "three"}, hello, owner);
  REQUIRE(tools.tool_calls.size() == 1);
  const auto arguments = boost::json::parse(tools.tool_calls.front().arguments);
  CHECK(arguments == boost::json::value{{"path", "a.cpp"}, {"text", "x\ny"}});
  // A resumed run goes on where its record ends.
  language_models resumed(settings);
  resumed.remember(0, keys);
  CHECK(resumed.ask({.operator_name = "one"}, hello, owner).content == "third");

  shell::write_file(path, "calls: {programs: [one], plans: [one]}\nreplies: []\n");
  CHECK_THROWS_WITH_AS(cassette(path, cassette_mode::replay), doctest::Contains("'one' belong"), error);
}

TEST_CASE("what a bandit learned is learned again from the record of its calls, without asking") {
  scripted::server server([](const scripted::request& r) {
    return r.body.find("\"model\":\"b\"") == std::string::npos
               ? scripted::says("x", 10, 10)
               : scripted::answer{.status = 400, .body = "{}"};
  });
  const auto made = [&] {
    models_settings all;
    for (const char* name : {"a", "b", "c"}) {
      model_settings one{.name = name, .price = {.output = 1000}, .server = settings_for(server)};
      one.server.dialect.model = name;
      all.models.push_back(one);
    }
    all.choice.bandit = true;
    return all;
  };
  language_models first(made());
  language_models second(made());
  language_models fresh(made());
  std::map<std::uint64_t, std::vector<model_call>> record;
  std::map<std::uint64_t, observation> seen;
  rng random(1);
  for (std::uint64_t job = 1; job <= 40; ++job) {
    variation_services services;
    services.record = [&](const model_call& c) { record[job].push_back(c); };
    variation_request owner;
    owner.job = job;
    owner.services = std::make_shared<const variation_services>(services);
    const std::size_t chosen = first.choose("", random);
    if (!first.ask({.operator_name = "op", .model = chosen}, hello, owner).ok()) {
      first.fruitless(job);
      continue;
    }
    seen[job].job = job;
    seen[job].outcome = outcome::valid;
    seen[job].parent_score = 1;
    seen[job].score = chosen == 0 ? 1.5 : 1.0;
    first.observe(seen[job]);
  }
  const std::size_t requests = server.requests();
  for (auto& [job, calls] : record) {
    double booked = 0;
    variation_services services;
    services.book = [&](const spending& s) { booked += s.money; };
    services.record = [](const model_call&) { FAIL("a recalled call is not recorded again"); };
    variation_request owner;
    owner.job = job;
    owner.services = std::make_shared<const variation_services>(services);
    const chat_reply before = reply_of_json(calls.front().response);
    second.recall(job, calls, true);
    const auto chosen = second.recalled_model(job, "op");
    REQUIRE(chosen);
    const chat_reply again = second.ask({.operator_name = "op", .model = *chosen}, hello, owner);
    CHECK(again.status == before.status);
    CHECK(again.content == before.content);
    CHECK(again.tokens_out == calls.front().tokens_out);
    CHECK(second.ask({.operator_name = "op", .model = *chosen}, hello, owner).status ==
          reply_status::unrecorded);
    second.forget(job);
    CHECK(booked == 0);
    seen.contains(job) ? second.observe(seen[job]) : second.fruitless(job);
  }
  CHECK(server.requests() == requests);
  const auto next = [](language_models& models) {
    std::vector<std::size_t> chosen;
    rng draws(9);
    for (int i = 0; i < 200; ++i) chosen.push_back(models.choose("", draws));
    return chosen;
  };
  CHECK(next(first) == next(second));
  CHECK(next(first) != next(fresh));
}

TEST_CASE("a judge that is asked about a model's program does not earn what the program does") {
  scripted::server server([](const scripted::request&) { return scripted::says("x"); });
  models_settings all{.models = {{.name = "a", .server = settings_for(server)},
                                 {.name = "b", .server = settings_for(server)}}};
  all.choice.bandit = true;
  all.choice.exploration = 0;
  language_models models(all);
  for (std::uint64_t job = 1; job <= 40; ++job) {
    variation_request owner;
    owner.job = job;
    const bool judged = job % 2 == 1;  // a writes and b judges, to no avail; or b writes, and gains
    if (judged) models.ask({.operator_name = "op", .model = 0}, hello, owner);
    models.ask({.operator_name = judged ? "novelty_judge" : "op", .model = 1}, hello, owner);
    observation seen;
    seen.job = job;
    seen.outcome = outcome::valid;
    seen.parent_score = 1;
    seen.score = judged ? 1 : 2;
    models.observe(seen);
  }
  rng random(1);
  CHECK(models.choose("", random) == 1);
}

TEST_CASE("bandit and portfolios prefer the model that gains, and the cheaper one if both do") {
  choice_settings by;
  SUBCASE("the bandit") {
    by.bandit = true;
  }
  SUBCASE("ucb1") {
    by.portfolio = ucb1{};
  }
  SUBCASE("thompson") {
    by.portfolio = thompson{};
  }
  SUBCASE("adaptive pursuit") {
    by.portfolio = adaptive_pursuit{};
  }
  SUBCASE("exp3") {
    by.portfolio = exp3{};
  }
  const auto share_of_first = [&by](double gain_a, double gain_b, double price_a, double price_b) {
    const shell::scratch folder;
    const std::string path = (folder / "t.yaml").string();
    std::string tape = "replies:\n";
    for (const char* name : {"a", "b"}) {
      for (int i = 0; i < 300; ++i)
        tape += std::string("  - {operator: op, model: ") + name + ", ordinal: " + std::to_string(i) +
                ", tokens_out: 1000, content: x}\n";
    }
    shell::write_file(path, tape);
    language_models models(
        {.models = {{.name = "a", .price = {.output = price_a}, .server = {.url = "http://x/v1"}},
                    {.name = "b", .price = {.output = price_b}, .server = {.url = "http://x/v1"}}},
         .choice = by,
         .mode = cassette_mode::replay,
         .cassette_path = path});
    rng random(5);
    int first = 0;
    for (std::uint64_t job = 1; job <= 200; ++job) {
      const std::size_t chosen = models.choose("", random);
      first += chosen == 0 ? 1 : 0;
      variation_request owner;
      owner.job = job;
      models.ask({.operator_name = "op", .model = chosen}, hello, owner);
      observation seen;
      seen.job = job;
      seen.outcome = outcome::valid;
      seen.parent_score = 1;
      seen.score = 1 + (chosen == 0 ? gain_a : gain_b);
      models.observe(seen);
    }
    return first / 200.0;
  };
  CHECK(share_of_first(1.0, 0.0, 1, 1) > 0.6);
  CHECK(share_of_first(0.0, 1.0, 1, 1) < 0.4);
  CHECK(share_of_first(0.5, 0.5, 1, 100) > 0.55);
}

TEST_CASE("a server that refuses the key is asked once, and the others of its tier go on") {
  scripted::server refuses([](const scripted::request&) -> scripted::answer {
    return {.status = 401, .body = R"({"error":{"message":"wrong key"}})"};
  });
  scripted::server answers([](const scripted::request&) { return scripted::says("x"); });
  const auto model = [](const char* name, const scripted::server& server) {
    return model_settings{.name = name, .tier = "any", .server = settings_for(server)};
  };
  language_models models({.models = {model("locked", refuses), model("open", answers)}});
  for (int i = 0; i < 5; ++i) {
    const chat_reply reply = models.ask({.operator_name = "t", .model = models.named("locked")}, hello, {});
    CHECK(reply.status == reply_status::unauthorized);
    CHECK(reply.detail.find("the server answered 401: wrong key (check key_env") == 0);
  }
  CHECK(refuses.requests() == 1);
  CHECK(models.account().calls == 1);
  CHECK(!models.may_ask("locked", ""));
  CHECK(models.may_ask("", "any"));
  rng random(1);
  for (int i = 0; i < 20; ++i) CHECK(models.choose("any", random) == models.named("open"));
  language_models alone({.models = {model("locked", refuses)}});
  alone.ask({.operator_name = "t"}, hello, {});
  CHECK(!alone.may_ask("", "any"));
  CHECK(alone.choose("any", random) == 0);  // who asks is told why it is of no use
}

TEST_CASE("a run that is ending sends nothing new, and lets what is out finish") {
  std::stop_source ending;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    if (r.number > 0) return {.status = 503, .body = "{}"};
    ending.request_stop();
    auto a = scripted::says("x", 20, 10);
    a.delay = 20ms;
    return a;
  });
  auto models = models_of(server, 0);
  variation_request owner;
  owner.ending = ending.get_token();
  CHECK(models.ask({.operator_name = "t"}, hello, owner).ok());
  for (int i = 0; i < 3; ++i) {
    const chat_reply reply = models.ask({.operator_name = "t"}, hello, owner);
    CHECK(reply.status == reply_status::cancelled);
    CHECK(reply.detail == "the run is ending, so that no new request is sent");
  }
  CHECK(server.requests() == 1);
}

TEST_CASE("a call that fails while the run ends is not tried again, and keeps its reason") {
  std::stop_source ending;
  scripted::server server([&](const scripted::request&) -> scripted::answer {
    ending.request_stop();
    return {.status = 503, .body = R"({"error":{"message":"busy"}})"};
  });
  auto models = models_of(server, 0);
  variation_request owner;
  owner.ending = ending.get_token();
  const chat_reply reply = models.ask({.operator_name = "t"}, hello, owner);
  CHECK(reply.status == reply_status::server_error);
  CHECK(reply.detail == "the server answered 503: busy; it was not tried again, because the run is ending");
  CHECK(server.requests() == 1);
}
