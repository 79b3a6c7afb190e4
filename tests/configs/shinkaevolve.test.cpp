// timeout: 120
// configs/systems/shinkaevolve.yaml on a toy task with scripted models: near duplicates are refused before
// they are evaluated and another program is asked for, islands stay apart, and all parts have their turns.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/random.hpp>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/system_run.hpp"

namespace {

/// The numbers of a request for embeddings, in order.
std::vector<long long> numbers_in(const std::string& body) {
  std::vector<long long> all;
  for (auto at = body.find("value "); at != std::string::npos; at = body.find("value ", at + 1))
    all.push_back(std::strtoll(body.c_str() + at + 6, nullptr, 10));
  return all;
}

/// Embeds a number as a vector of its own, whatever the blanks before it. Every third proposal is the
/// parent with other blanks, until it is told that the program is known.
struct models {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> judged = 0;

  scripted::answer operator()(const scripted::request& r) {
    if (has(r.head, "/embeddings")) {
      std::string data;
      for (const long long n : numbers_in(r.body)) {
        kevo::rng random(static_cast<std::uint64_t>(n));
        std::string vector;
        for (int i = 0; i < 8; ++i) vector += (i == 0 ? "" : ",") + std::to_string(random.uniform(-1, 1));
        data += (data.empty() ? "" : ",") + std::string("{\"embedding\":[") + vector + "]}";
      }
      return {.body = "{\"data\":[" + data + "],\"usage\":{\"prompt_tokens\":9}}", .tokens_in = 9};
    }
    if (has(r.body, "Would the machine do the same")) {
      ++judged;
      const auto both = numbers_in(r.body);
      const bool same = both.size() >= 2 && both[0] == both[1];
      return scripted::says(same ? "Verdict: same" : "Verdict: different");
    }
    if (has(r.body, "You keep the notes")) return scripted::says("<summary>LARGER_NUMBERS_HELP</summary>");
    const std::string parent = scripted::parent_number(r.body);
    const std::size_t n = ++next;
    std::string made = scripted::number_of(n);
    if (n % 3 == 0 && !has(r.body, "tried before")) made = std::string(1 + n, ' ') + parent;
    if (has(r.body, "<<<<<<< SEARCH")) return scripted::says(scripted::value_edit(parent, made));
    return scripted::says("Summary: another number\n\n```\nvalue " + made + "\n```\n");
  }
};

}  // namespace

TEST_CASE("shinkaevolve: a near duplicate is refused before its evaluation, and another program is made") {
  models scripted_models;
  auto server =
      std::make_unique<scripted::server>([&](const scripted::request& r) { return scripted_models(r); });
  const scripted::project p("  models: []\n", "");
  const auto ended = p.answer(scripted::system_on(
      p, "shinkaevolve", server->url(),
      {"llm.models=[{name: local, url: \"" + server->url() + "\"}, {name: other, url: \"" + server->url() +
           "\"}, {name: embedder, url: \"" + server->url() + "\", weight: 0}]",
       "run.parallel.variations=1",  // a turn that is out when the run ends is not judged any more
       "stop={proposals: 80}"}));
  CHECK(ended.at("valid").to_number<int>() >= 50);
  server.reset();

  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  for (const auto& one : record.candidates())
    CHECK_FALSE(has(std::string(record.store().program_of(one.program)->text()), "value  "));  // planted

  std::map<std::string, int> operators, chosen;
  std::size_t refused = 0, noted = 0;
  record.for_each_model_call([&](kevo::ticket, std::int64_t number) {
    const auto call = record.model_calls(std::vector{number}).front();
    ++operators[call.operator_name];
    if (call.operator_name == "embeddings" || call.operator_name == "novelty_judge") return;
    ++chosen[call.model];
    refused += has(call.messages, "means the same as one that was tried before") ? 1U : 0U;
    noted += has(call.messages, "LARGER_NUMBERS_HELP") ? 1U : 0U;
  });
  CHECK(refused >= 15);  // each a second attempt in the same turn
  CHECK(scripted_models.judged.load() >= refused);
  CHECK(operators["novelty_judge"] >= static_cast<int>(refused));
  CHECK(operators["embeddings"] >= 80);
  CHECK(operators["llm_diff"] > operators["llm_rewrite"]);  // 0.54, 0.27, 0.09 and 0.1 of the turns
  CHECK(operators["llm_rewrite"] > operators["llm_crossover"]);
  CHECK(operators["llm_crossover"] >= 1);
  CHECK(noted >= 20);  // the summary is in later prompts
  CHECK(chosen["local"] >= 5);
  CHECK(chosen["other"] >= 5);
  CHECK(chosen["embedder"] == 0);

  scripted::islands_replayed run{kevo::islands(kevo::top_k(20), kevo::topology::from_edges(2, {}), {})};
  run.follow(record);
  CHECK(run.other_answers == 0);
  CHECK(run.strangers == 0);
  CHECK(run.turns.size() == 2);
  CHECK(run.world.migrations() == 0);
  MESSAGE(refused << " refused, " << scripted_models.judged.load() << " judged, " << noted
                  << " prompts with notes");

  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});  // without a server
  CHECK_MESSAGE(has(again.out, "all decisions were the same"), again.out << again.err);
}
