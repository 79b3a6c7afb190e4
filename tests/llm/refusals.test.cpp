// Servers that refuse: messages with the cure, runs that end with an error, and the question that each model
// is asked before a run begins.

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "src/llm/check_models.hpp"
#include "tests/llm/asking.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

constexpr const char* search_of_refusals =
    "run: {output: run, seed: 5, parallel: {variations: 2, builds: 1}}\narchive: {type: top_k, k: "
    "20}\nselect: "
    "{type: greedy}\nvary: {operators: [{type: llm_rewrite, similarity: 2}]}\nstop: {any: [{proposals: 6}, "
    "{seconds: 60}]}\n";

std::string refused(int status, const std::string& message, const std::string& headers = {}) {
  return asked(scripted::answer{.status = status,
                                .headers = headers,
                                .body = "{\"error\":{\"message\":" + scripted::json_text(message) + "}}"})
      .detail;
}

std::string model_of(const scripted::server& server, const std::string& more = {}) {
  return "  models: [{name: a, stream: false, url: \"" + server.url() + "\"" + more + "}]\n";
}

scripted::answer program_of_request(const scripted::request& r) {
  return scripted::says(scripted::value_reply(static_cast<long long>(1001 + r.number * 5)));
}

}  // namespace

TEST_CASE("a refusal says what is to be changed") {
  const auto tells = [](const std::string& detail, const std::string& cure) {
    CHECK_MESSAGE(has(detail, cure), detail);
  };
  tells(refused(404, "not found"), "/v1/chat/completions for the model 'm'");
  tells(refused(404, "not found"), "url must be the address before /chat/completions");
  tells(refused(403, "no"), "check key_env or key_file");
  tells(refused(402, "no"), "no credit");
  tells(refused(307, "", "Location: https://there.example/v1/chat/completions\r\n"),
        "write url: \"https://there.example/v1\"");
  tells(refused(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        "set `max_tokens_key: max_completion_tokens`");
  tells(
      refused(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"),
      "8192 more (max_tokens)");
  tells(refused(400, "max_tokens is too large: 8192"), "lower max_tokens");
  tells(refused(400, "\"auto\" tool choice requires --tool-call-parser"), "--tool-call-parser");
  tells(refused(422, "Model x does not exist"), "the model 'm' was asked");
  CHECK(refused(400, "sorry") == "the server answered 400: sorry");
}

TEST_CASE("a run whose models refuse every request ends with an error and the cure") {
  scripted::server server([](const scripted::request&) -> scripted::answer {
    return {.status = 404, .body = R"({"error":{"message":"there is no model of this name"}})"};
  });
  const scripted::project p(model_of(server), search_of_refusals);
  const auto ended = p.kevo({"run", "config.yaml", "--plain"});
  CHECK(ended.code == 1);
  CHECK_MESSAGE(has(ended.err, "no language model accepts a request; 'a': the server answered 404"),
                ended.err);
  CHECK_MESSAGE(has(ended.err, "url must be the address before"), ended.err);
  CHECK_MESSAGE(has(ended.err, "kevo resume RUN"), ended.err);
  CHECK(server.requests() <= 4);

  scripted::server better(program_of_request);
  const auto resumed = p.answer({"resume", "run", "--set", "llm.models[0].url=" + better.url()});
  CHECK(resumed.at("stopped_by").as_string() == "6 proposals");
}

TEST_CASE("a model that refuses some requests does not end a run") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (r.number % 2 == 1) return {.status = 400, .body = R"({"error":{"message":"no"}})"};
    return program_of_request(r);
  });
  const scripted::project p(model_of(server), search_of_refusals);
  CHECK(p.answer({"run", "config.yaml"}).at("stopped_by").as_string() == "6 proposals");
}

TEST_CASE("a limit of money without prices is told at once") {
  scripted::server server(program_of_request);
  const scripted::project p("  max_money: 5\n" + model_of(server), search_of_refusals);
  const auto ended = p.kevo({"run", "config.yaml", "--plain"});
  CHECK_MESSAGE(has(ended.out + ended.err, "warning: llm.max_money has no effect on 'a'"), ended.out);
  const scripted::project priced("  max_money: 5\n" + model_of(server, ", price: {output: 1}"),
                                 search_of_refusals);
  CHECK(!has(priced.kevo({"run", "config.yaml", "--plain"}).out, "llm.max_money has no effect"));
}

TEST_CASE("each model is asked once with a tool, and what comes of it is told") {
  const auto checked = [](const scripted::server& server, double weight = 1) {
    const auto all = check_models(
        {.models =
             {{.name = "a", .weight = weight, .price = {.output = 1e6}, .server = settings_for(server)}}},
        {});
    REQUIRE(all.size() == 1);
    return all[0];
  };
  {
    scripted::server server([](const scripted::request& r) {
      return has(r.body, "\"tools\"") ? scripted::calls({{"kevo_ready", "{}"}}, 1, 2) : scripted::says("no");
    });
    server.see_checks(true);
    const model_check found = checked(server);
    CHECK(found.works);
    CHECK(found.calls_tools);
    CHECK(found.money == doctest::Approx(2));
    CHECK(server.requests() == 1);
  }
  {
    scripted::server server([](const scripted::request& r) -> scripted::answer {
      if (!has(r.body, "\"tools\"")) return scripted::says("kevo");
      return {.status = 400, .body = R"({"error":{"message":"this model does not support tools"}})"};
    });
    server.see_checks(true);
    const model_check found = checked(server);
    CHECK(found.works);
    CHECK(!found.calls_tools);
    CHECK_MESSAGE(has(found.said, "it refuses tools"), found.said);
  }
  {
    scripted::server server([](const scripted::request& r) -> scripted::answer {
      if (has(r.head, "/embeddings")) return {.body = R"({"data":[{"embedding":[1,2,3]}]})"};
      return {.status = 400, .body = R"({"error":{"message":"no chat"}})"};
    });
    server.see_checks(true);
    CHECK_MESSAGE(has(checked(server, 0).said, "an embedding of 3 numbers"), checked(server, 0).said);
    CHECK(!checked(server).works);
    CHECK(checked(server).refused);
  }
  scripted::server slow([](const scripted::request&) -> scripted::answer { return {.status = 503}; });
  slow.see_checks(true);
  CHECK(!checked(slow).works);
  CHECK(!checked(slow).refused);
  CHECK(slow.requests() == 2);  // once each
}

TEST_CASE("a run asks its models before the seeds are judged, and does not begin if all refuse") {
  scripted::server server([](const scripted::request&) -> scripted::answer {
    return {.status = 401, .body = R"({"error":{"message":"wrong key"}})"};
  });
  server.see_checks(true);
  const scripted::project p(model_of(server), search_of_refusals);
  const auto ended = p.kevo({"run", "config.yaml"});
  CHECK(ended.code == 1);
  CHECK_MESSAGE(
      has(ended.err, "no language model accepts a request; 'a': the server answered 401: wrong key"),
      ended.err);
  CHECK(!std::filesystem::exists(p.folder / "judged"));
  CHECK(!std::filesystem::exists(p.folder / "run"));
  CHECK(server.requests() == 1);

  // The same question without a run.
  const auto check = p.kevo({"run", "--check", "config.yaml"});
  CHECK(check.code == 1);
  CHECK_MESSAGE(has(check.out, "FAILED  a: the server answered 401: wrong key"), check.out);
  const auto doctor = p.kevo({"doctor", "config.yaml"});
  CHECK(doctor.code == 1);
  CHECK_MESSAGE(has(doctor.out, "language model: a"), doctor.out);
  CHECK(server.requests() == 3);

  scripted::server works(program_of_request);
  const scripted::project q(model_of(works), search_of_refusals);
  const auto good = q.kevo({"run", "--check", "config.yaml"});
  CHECK(good.code == 0);
  CHECK_MESSAGE(has(good.out, "ok  a: answered in"), good.out);
  CHECK_MESSAGE(has(good.out, "called a tool"), good.out);
  CHECK(works.requests() == 0);
  CHECK(q.kevo({"run", "--check", "config.yaml", "--json"}).out.starts_with("{\"models\":[{\"name\":\"a\""));
}

TEST_CASE("recorded replies are used without asking anyone") {
  scripted::server server(program_of_request);
  server.see_checks(true);
  const scripted::project p("  cassette: {mode: off, file: tape.yaml}\n" + model_of(server),
                            search_of_refusals);
  std::string tape = "replies:\n";
  for (int i = 0; i < 8; ++i)
    tape += "  - {operator: llm_rewrite, model: a, ordinal: " + std::to_string(i) +
            ", content: \"```\\nvalue " + std::to_string(1001 + 5 * i) + "\\n```\"}\n";
  shell::write_file(p.folder / "tape.yaml", tape);
  p.answer({"run", "config.yaml", "--replay-models"});
  CHECK(has(p.kevo({"run", "--check", "config.yaml", "--replay-models"}).out, "no language model is asked"));
  CHECK(server.requests() == 0);
}
