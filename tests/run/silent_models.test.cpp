// timed
// timeout: 120
// Runs whose models do not answer: the user hears of it at once, the run ends with an error after
// llm.patience, and a resume goes on where it stood.

#include <atomic>
#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

using namespace std::chrono_literals;

namespace {

/// Where the server answers, `first` (seconds) is long enough for a busy machine.
std::string model_at(const std::string& url, const std::string& patience, const std::string& first = "30") {
  return "  patience: " + patience + "\n  models:\n    - {name: a, url: \"" + url +
         "\", retries: {tries: 1}, timeouts: {connect: 30, first: " + first + ", total: 60}}\n";
}

constexpr const char* rest_of_config =
    "run: {name: silent, seed: 5, output: run, parallel: {variations: 2, builds: 1}}\n"
    "archive: {type: top_k, k: 20}\nselect: {type: greedy}\n"
    "vary: {operators: [{type: llm_rewrite, similarity: 2}]}\nstop: {any: [{proposals: 6}, {seconds: 60}]}\n";

/// An address at which nobody listens.
std::string closed_address() {
  const scripted::server gone([](const scripted::request&) { return scripted::answer{}; });
  return gone.url();
}

/// The turns that were told. One that the end of the run cancelled before it asked a model does not count.
std::size_t told_turns(const scripted::project& p) {
  std::size_t count = 0;
  bool stopped = false;
  kevo::journal::open_read_only((p.folder / "run").string()).for_each_event([&](const kevo::event& e) {
    if (std::holds_alternative<kevo::search_stopped>(e.payload)) stopped = true;
    if (std::holds_alternative<kevo::search_resumed>(e.payload)) stopped = false;
    const auto* told = std::get_if<kevo::variation_told>(&e.payload);
    count += told != nullptr && (told->program || !stopped) ? 1U : 0U;
  });
  return count;
}

scripted::answer program_of(const scripted::request& r) {
  return scripted::says(scripted::value_reply(static_cast<long long>(1001 + r.number * 5)));
}

}  // namespace

TEST_CASE("a server that is not there is told of at once and ends the run, and a resume goes on") {
  const scripted::project p(model_at(closed_address(), "0.8"), rest_of_config);
  const auto began = std::chrono::steady_clock::now();
  const auto failed = p.kevo({"run", "config.yaml", "--plain"});
  const auto took = std::chrono::steady_clock::now() - began;
  CHECK(failed.code == 1);
  CHECK_MESSAGE(
      has(failed.out + failed.err, "warning: the language model 'a' does not answer: cannot connect to"),
      failed.out);
  CHECK_MESSAGE(has(failed.err, "no language model has answered for 0.8 s; 'a': cannot connect to"),
                failed.err);
  CHECK(has(failed.err, "kevo resume RUN"));
  CHECK(took >= 800ms);
  CHECK(took < 30s);
  CHECK(told_turns(p) == 0);  // what was out stays open

  scripted::server server(program_of);
  const auto ended =
      p.answer({"resume", "run", "--set", "llm.models[0].url=" + server.url(), "--set", "llm.patience=60"});
  CHECK(ended.at("stopped_by").as_string() == "6 proposals");
  // The turns that had met no server were repeated: none was lost.
  CHECK(told_turns(p) == ended.at("ledger").at("proposals").to_number<std::size_t>());
}

TEST_CASE("a server that is started late is waited for, at no turn's cost") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (r.number < 4) return {.status = 503, .body = R"({"error":{"message":"Loading model"}})"};
    return program_of(r);
  });
  const scripted::project p(model_at(server.url(), "40"), rest_of_config);
  const auto ended = p.answer({"run", "config.yaml"});
  CHECK(ended.at("stopped_by").as_string() == "6 proposals");
  CHECK(told_turns(p) == ended.at("ledger").at("proposals").to_number<std::size_t>());
}

TEST_CASE("a server that takes requests and says nothing ends the run, too") {
  scripted::server server([](const scripted::request&) -> scripted::answer { return {.hang = true}; });
  const scripted::project p(model_at(server.url(), "1", "0.3"), rest_of_config);
  const auto failed = p.kevo({"run", "config.yaml", "--plain"});
  CHECK(failed.code == 1);
  CHECK_MESSAGE(has(failed.err, "no language model has answered for 1 s; 'a': the first token took too long"),
                failed.err);
}

TEST_CASE("without patience a call that fails costs its turn") {
  const scripted::project p(model_at(closed_address(), "0"), rest_of_config);
  const auto ended = p.answer({"run", "config.yaml"});
  CHECK(ended.at("stopped_by").as_string() == "operators exhausted");
}

TEST_CASE("a server that rejects every request is told of at once") {
  scripted::server server([](const scripted::request&) -> scripted::answer {
    return {.status = 404, .body = R"({"error":{"message":"there is no model of this name"}})"};
  });
  const scripted::project p(model_at(server.url(), "5"), rest_of_config);
  const auto ended = p.kevo({"run", "config.yaml", "--plain"});
  const std::string said = ended.out + ended.err;
  const std::string warning =
      "warning: the server of the language model 'a' rejects the request: the server answered 404: there is "
      "no model";
  const auto first = said.find(warning);
  CHECK_MESSAGE(first != std::string::npos, said);
  CHECK(said.find(warning, first + 1) == std::string::npos);  // once
}
