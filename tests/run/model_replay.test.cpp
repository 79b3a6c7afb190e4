// timed
// timeout: 180
// Runs with language models, replayed and resumed: operators make their turns again from the journal, ask
// nobody, and come to the same proposals and to the same memory.

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "src/base/sqlite/sqlite.hpp"
#include "src/journal/journal.hpp"
#include "src/llm/recorded_reply.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

using namespace std::chrono_literals;

namespace {

/// A well-behaved model of all operators: another number with every request, notes that count, steps that are
/// named.
struct helpful_model {
  std::chrono::milliseconds delay{0};
  std::atomic<int> notes = 0;

  scripted::answer operator()(const scripted::request& r) {
    const auto n = static_cast<long long>(1000 + r.number);
    scripted::answer made;
    if (has(r.body, "\"name\":\"write_file\"")) {
      made = scripted::calls(scripted::agent_turn(n));
    } else if (has(r.body, "<summary>")) {
      made = scripted::says("<summary>NOTE_" + std::to_string(++notes) + "</summary>");
    } else if (r.number % 11 == 0) {
      made = {.status = 400, .body = "no \xff today"};
    } else {
      made = scripted::says(scripted::value_reply(n));
    }
    made.delay = delay;
    return made;
  }
};

std::string models_at(const std::string& url, const std::string& more = {}) {
  return "  models:\n    - {name: a, url: \"" + url +
         "\", price: {input: 1, output: 1}, retries: {tries: 1}}\n" + "    - {name: b, url: \"" + url +
         "\", price: {input: 2, output: 2}, retries: {tries: 1}}\n" + "  choose: {by: bandit}\n" + more;
}

constexpr const char* all_operators =
    "archive: {type: top_k, k: 20}\nselect: {type: power_law, inspirations: {top: 1, diverse: 1}}\n"
    "vary:\n  portfolio: {type: uniform}\n  operators:\n"
    "    - {type: llm_rewrite, similarity: 2}\n"
    "    - {type: llm_repair, similarity: 2, depth: 3}\n"
    "    - {type: llm_crossover, similarity: 2}\n"
    "    - {type: llm_contrastive, similarity: 2, attempts: 1}\n"
    "    - {type: macro_micro, similarity: 2, types: [tiling, fusion, packing]}\n"
    "    - {type: summarize, similarity: 2}\n"
    "    - {type: agent, similarity: 2, limits: {steps: 4}}\n";

std::string run_of(int variations) {
  return "run: {name: models, seed: 5, output: run, parallel: {variations: " + std::to_string(variations) +
         ", builds: 2}}\n" + all_operators;
}

/// The ledger without the time on the clock, which goes on after the last event.
boost::json::object spent(const boost::json::object& run) {
  boost::json::object all = run.at("ledger").as_object();
  all.erase("elapsed_s");
  return all;
}

std::size_t drafts_in(const kevo::journal& record) {
  std::size_t count = 0;
  record.for_each_event([&](const kevo::event& e) {
    count += std::holds_alternative<kevo::draft_evaluated>(e.payload) ? 1U : 0U;
  });
  return count;
}

/// How many recorded replies belong to turns that were not cut short. The stop cuts those that are out at
/// that moment: the server may have seen their requests, but such a turn is not repeated.
std::size_t replies_to_repeat(const kevo::journal& record) {
  std::map<kevo::ticket, std::size_t> replies;
  std::set<kevo::ticket> cut_short;
  record.for_each_model_call([&](kevo::ticket turn, std::int64_t number) {
    for (const auto& call : record.model_calls(std::vector{number})) {
      ++replies[turn];
      if (kevo::reply_of_json(call.response).status == kevo::reply_status::cancelled) cut_short.insert(turn);
    }
  });
  std::size_t sum = 0;
  for (const auto& [turn, count] : replies) sum += cut_short.contains(turn) ? 0 : count;
  return sum;
}

}  // namespace

TEST_CASE("a replay with models repeats every proposal, drafts included, and asks nobody") {
  helpful_model model;
  auto server = std::make_unique<scripted::server>([&](const scripted::request& r) { return model(r); });
  int variations = 1;
  SUBCASE("one variation at a time: to the last byte of every request") {
    variations = 1;
  }
  SUBCASE("four at a time: the same proposals") {
    variations = 4;
  }
  const scripted::project p(models_at(server->url()), run_of(variations) + "stop: {proposals: 60}\n");
  const auto ended = p.answer({"run", "config.yaml"});
  const std::size_t requests = server->requests();
  server.reset();
  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  CHECK(drafts_in(record) > 10);
  const std::size_t repeated = replies_to_repeat(record);
  // Of one turn at a time none is out when the run stops.
  if (variations == 1) CHECK(repeated == requests);

  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});
  REQUIRE_MESSAGE(again.code == 0, again.err);
  CHECK_MESSAGE(has(again.out, std::to_string(repeated) + " recorded replies of models were used"),
                again.out);
  if (variations == 1) CHECK_MESSAGE(has(again.out, ", 0 of them for a request that differs"), again.out);
  const auto same = p.answer({"run", "--replay", "run", "--replay-models"});
  CHECK(spent(same) == spent(ended));
  CHECK(same.at("best").at("id") == ended.at("best").at("id"));
  CHECK(same.at("best").at("speedup") == ended.at("best").at("speedup"));

  // A record whose reply was changed is found out.
  const std::string change =
      "UPDATE model_calls SET response = replace(response, 'value 1', 'value 7') WHERE number = "
      "(SELECT max(number) FROM model_calls WHERE response LIKE '%value 1%' AND operator = 'llm_rewrite')";
  kevo::sqlite::connection((p.folder / "run/journal.sqlite").string(), kevo::sqlite::access::create)
      .execute(change);
  const auto other = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK(other.code == 2);
  CHECK_MESSAGE(has(other.err, "the replay diverges"), other.err);
}

TEST_CASE("a key that one server refuses is asked once, said at the end, and replays as it was decided") {
  helpful_model model;
  std::atomic<int> refused = 0;
  bool both = false;
  SUBCASE("the other model goes on") {}
  SUBCASE("both are refused") {
    both = true;
  }
  auto server = std::make_unique<scripted::server>([&](const scripted::request& r) -> scripted::answer {
    if (!both && !has(r.body, "\"model\":\"b\"")) return model(r);
    ++refused;
    return {.status = 401, .body = R"({"error":{"message":"wrong key"}})"};
  });
  const scripted::project p(models_at(server->url()), run_of(1) + "stop: {proposals: 20}\n");
  if (both) {
    const auto failed = p.kevo({"run", "config.yaml"});
    CHECK(failed.code == 1);
    CHECK(has(failed.err, "no language model accepts its key"));
    CHECK(has(failed.err, "the server answered 401: wrong key (check key_env"));
    CHECK(has(failed.err, "kevo resume RUN"));
    CHECK(has(failed.out + failed.err, "warning: the server of the language model 'a' refuses the key"));
    CHECK(refused == 2);
    both = false;  // the key is put right: no turn was lost to the wrong one
  }
  const bool resumes = refused == 2;
  const auto ended = resumes ? p.answer({"resume", "run"}) : p.answer({"run", "config.yaml"});
  CHECK(ended.at("stopped_by").as_string() == "20 proposals");
  server.reset();
  const auto same = p.answer({"run", "--replay", "run", "--replay-models"});
  CHECK(spent(same) == spent(ended));
}

TEST_CASE("a cassette and the recorded results repeat a run without a server") {
  helpful_model model;
  auto server = std::make_unique<scripted::server>([&](const scripted::request& r) { return model(r); });
  const std::string url = server->url();
  const scripted::project p(models_at(url, "  cassette: {mode: record, file: tape.yaml}\n"),
                            run_of(1) + "stop: {proposals: 40}\n");
  const auto first = p.answer({"run", "config.yaml"});
  server.reset();
  // The tape in place of the model, then that run's own record in place of everything.
  const auto second = p.answer({"run", "config.yaml", "--replay-models", "--set", "run.output=again"});
  CHECK(second.at("ledger").at("proposals").to_number<int>() > 20);
  CHECK(second.at("ledger").at("tokens_in").to_number<int>() > 0);
  const auto third = p.answer({"run", "--replay", "again", "--replay-models"});
  CHECK(spent(third) == spent(second));
  CHECK(third.at("best").at("id") == second.at("best").at("id"));
}

TEST_CASE("a config without a cassette cannot be run with recorded replies, and is told what it lacks") {
  const scripted::project p(models_at("http://127.0.0.1:1/v1", ""), run_of(1) + "stop: {proposals: 1}\n");
  const auto ended = p.kevo({"run", "config.yaml", "--replay-models"});
  CHECK(ended.code != 0);
  CHECK_MESSAGE(has(ended.err, "the config names no file of recorded replies"), ended.err);
  CHECK_MESSAGE(has(ended.err, "config.yaml"), ended.err);
  CHECK_FALSE(has(ended.err, "--set"));
}

TEST_CASE("a resumed run has the notes of its first session") {
  std::mutex guard;
  std::vector<std::string> bodies;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    const std::scoped_lock lock(guard);
    bodies.push_back(r.body);
    if (has(r.body, "<summary>") && !has(r.body, "NOTE_OF_FIRST_SESSION"))
      return scripted::says("<summary>NOTE_OF_FIRST_SESSION</summary>");
    return scripted::says(scripted::value_reply(static_cast<long long>(1000 + r.number)));
  });
  const scripted::project p(
      "  models:\n    - {name: a, url: \"" + server.url() + "\", retries: {tries: 1}}\n",
      "run: {name: models, seed: 5, output: run, parallel: {variations: 1, builds: 1, proposals_ahead: 1}}\n"
      "archive: {type: top_k, k: 20}\nselect: {type: greedy}\n"
      "vary:\n  portfolio: {type: uniform}\n  operators:\n"
      "    - {type: llm_rewrite, similarity: 2, attempts: 1}\n"
      "    - {type: summarize, similarity: 2, attempts: 1}\n"
      "stop: {proposals: 20}\n");
  p.answer({"run", "config.yaml"});
  const auto so_far = [&] {
    const std::scoped_lock lock(guard);
    return bodies.size();
  };
  const std::size_t before = so_far();
  p.answer({"resume", "run", "--set", "stop.proposals=30"});
  const std::scoped_lock lock(guard);
  REQUIRE(bodies.size() >= before + 10);
  for (std::size_t i = before; i < bodies.size(); ++i) CHECK(has(bodies[i], "NOTE_OF_FIRST_SESSION"));
}

TEST_CASE("killed in the middle of its calls, a run asks no question twice and books every reply once") {
  helpful_model model{.delay = 15ms};
  scripted::server server([&](const scripted::request& r) { return model(r); });
  const scripted::project p(models_at(server.url()), run_of(3) + "stop: {proposals: 100000}\n");
  for (int attempt = 0; attempt < 4; ++attempt) {
    shell::running victim(attempt == 0 ? shell::kevo({"run", "config.yaml", "--plain"})
                                       : shell::kevo({"resume", "run", "--plain"}),
                          p.folder.string());
    // In the middle of its calls, however slow the machine is to begin.
    const std::size_t before = server.requests();
    for (int i = 0; i < 2000 && server.requests() < before + 30; ++i) std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(7ms * attempt);
    victim.signal(SIGKILL);
    const auto died = victim.wait();
    CHECK_MESSAGE(died.code == 128 + SIGKILL, died.out << died.err);
    CHECK(server.requests() >= before + 30);
  }
  const auto ended = p.answer({"resume", "run", "--set", "stop={proposals: 1}"});
  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  std::int64_t tokens = 0;
  std::size_t calls = 0;
  record.for_each_model_call([&](kevo::ticket, std::int64_t number) {
    for (const auto& call : record.model_calls(std::vector{number})) {
      tokens += call.tokens_in;
      ++calls;
    }
  });
  CHECK(ended.at("ledger").at("tokens_in").to_number<std::int64_t>() == tokens);
  // Asked twice is only what was out when a process died, or back for less than the 10 ms of a group commit:
  // with replies of 15 ms and three variations at most three and three.
  CHECK(server.requests() <= calls + 4 * (3 + 3));
  const auto whole = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(whole.code == 0, whole.err);
}
