// timeout: 120
// configs/systems/polca.yaml on a toy task with a scripted model: what distinguishes the system, read from
// the journal of the run.

#include <map>
#include <mutex>
#include <set>

#include <doctest/doctest.h>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

namespace {

using kevo::candidate_id;

/// Proposes a new number each time; every fourth proposal is the seed with other blanks, which is another
/// program and a near duplicate.
struct repetitive_model {
  std::atomic<int> proposals = 0;
  std::atomic<int> without_notes = 0;
  std::mutex guard;
  std::vector<std::string> summaries;  ///< prompts

  scripted::answer operator()(const scripted::request& r) {
    if (has(r.body, "<summary>")) {
      const std::scoped_lock lock(guard);
      summaries.push_back(r.body);
      return scripted::says("<summary>numbers differ</summary>");
    }
    if (!has(r.body, "numbers differ")) ++without_notes;
    const int n = ++proposals;
    if (n % 4 != 0) return scripted::says(scripted::value_reply(1000 + n));
    return scripted::says("Summary: more room\n\n```\nvalue" + std::string(static_cast<std::size_t>(n), ' ') +
                          "3\n```\n");
  }
};

/// The config with the toy task in place of the matrix product: the lines that a user changes, and no other.
std::vector<std::string> polca_on(const scripted::project& p, const std::string& url,
                                  std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"run",
                                    KEVO_SOURCE_DIR "/configs/systems/polca.yaml",
                                    "--set",
                                    "task=" + (p.folder / "task.yaml").string(),
                                    "--set",
                                    "fitness={backend: command, command: [/bin/sh, score.sh], directory: " +
                                        p.folder.string() + ", sandbox: off}",
                                    "--set",
                                    "llm.models=[{name: a, url: \"" + url + "\"}]",
                                    "--set",
                                    "run.output=" + (p.folder / "run").string()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("polca drops planted near duplicates without evaluating them, and works in rounds") {
  repetitive_model model;
  auto server = std::make_unique<scripted::server>([&](const scripted::request& r) { return model(r); });
  const scripted::project p("  models: []\n", "");
  const auto ended = p.answer(polca_on(p, server->url()));
  server.reset();
  const auto& ledger = ended.at("ledger").as_object();
  CHECK(ledger.at("proposals").to_number<int>() >= 55);
  // Every round but the first begins with a summary of candidates that no other one was shown.
  CHECK(model.without_notes == 5);
  CHECK(model.summaries.size() == 10);
  std::set<std::string> shown_candidates;
  for (const auto& prompt : model.summaries) {
    std::size_t count = 0;
    for (auto at = prompt.find("### Candidate #"); at != std::string::npos;
         at = prompt.find("### Candidate #", at + 1), ++count)
      CHECK(shown_candidates.insert(prompt.substr(at, prompt.find(',', at) - at)).second);
    CHECK(count >= 1);
    CHECK(count <= 5);
    CHECK(has(prompt, "value 10"));  // with their sources
  }
  CHECK(ledger.at("filtered").to_number<int>() >= 10);  // a quarter of them

  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  std::map<candidate_id, std::string> dropped;
  std::set<candidate_id> evaluated, passed;
  std::string order;
  record.for_each_event([&](const kevo::event& e) {
    if (const auto* batch = std::get_if<kevo::proposals_filtered>(&e.payload)) {
      CHECK(batch->passed.size() + batch->dropped.size() <= 5);
      passed.insert(batch->passed.begin(), batch->passed.end());
      for (const auto& one : batch->dropped) dropped[one.candidate] = one.reason;
      order += 'f';
    } else if (const auto* asked = std::get_if<kevo::evaluation_asked>(&e.payload)) {
      evaluated.insert(asked->candidate);
      if (asked->wanted != kevo::evaluation_stage::confirmed) order += asked->fresh ? 'm' : 'e';
    } else if (std::holds_alternative<kevo::variation_asked>(e.payload)) {
      order += 'v';
    }
  });
  CHECK(static_cast<int>(dropped.size()) == ledger.at("filtered").to_number<int>());
  for (const auto& one : dropped) {
    CHECK_FALSE(evaluated.contains(one.first));
    CHECK(has(one.second, "its distance to candidate "));
    const auto source = record.store().program_of(record.candidate(one.first)->program);
    CHECK(has(std::string(source->text()), "value  "));  // planted, and nothing else
  }
  for (const candidate_id one : passed) {
    const auto source = record.store().program_of(record.candidate(one)->program);
    CHECK_FALSE(has(std::string(source->text()), "value  "));
  }
  CHECK_MESSAGE(order.find("emmmmmvvvvvf") == 0, order);  // the seed; its five measurements, then five turns
  CHECK_MESSAGE(order.find("vm") == std::string::npos, order);  // a round is filtered and evaluated first

  // People are told, and the record repeats the run without a server.
  CHECK(has(p.kevo({"show", "run"}).out, ", never evaluated"));
  const auto shown = p.answer({"show", "run"});
  CHECK(shown.at("ledger").as_object().at("filtered") == ledger.at("filtered"));
  const auto one = p.kevo({"show", "run", std::to_string(dropped.begin()->first)});
  CHECK_MESSAGE(has(one.out, "dropped by the proposal filter"), one.out << one.err);
  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(has(again.out, "all decisions were the same"), again.out << again.err);
}

TEST_CASE("without its filter line polca evaluates the near duplicates") {
  repetitive_model model;
  scripted::server server([&](const scripted::request& r) { return model(r); });
  const scripted::project p("  models: []\n", "");
  const auto ended =
      p.answer(polca_on(p, server.url(), {"--set", "filter.epsilon=0", "--set", "stop={proposals: 15}"}));
  CHECK(ended.at("ledger").as_object().at("filtered").to_number<int>() == 0);
}
