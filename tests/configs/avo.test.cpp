// timeout: 120
// configs/systems/avo.yaml on a toy task with a scripted model: the journal shows one line of descent whose
// head never fell, and a supervisor that spoke up when eight drafts in a row brought no gain.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/system_run.hpp"

namespace {

/// Writes, times and submits a draft in one message.
scripted::answer draft(long long n) {
  return scripted::calls(
      {{"write_file", "{\"path\": \"kernel.txt\", \"text\": \"value " + std::to_string(n) + "\\n\"}"},
       {"time", "{}"},
       {"submit", "{\"summary\": \"another number\"}"}});
}

/// "value n" is worth 1 for large n, else n % 97 + 1, and a multiple of five is wrong: each eleventh draft is
/// better than all before, the others are worse or wrong.
scripted::answer agent_at_work(const scripted::request& r) {
  if (has(r.body, "You propose directions")) return scripted::says("DIRECTION_A: larger numbers");
  if (has(r.body, "Your turn ends here"))
    return scripted::says("<notes>NOTES_AFTER_" + std::to_string(r.number) + "</notes>");
  const auto number = static_cast<long long>(r.number);
  long long good = 980 + 3 * (number / 11);
  if (good % 5 == 0) ++good;
  return draft(number % 11 == 10 ? good : 97000 + number);
}

}  // namespace

TEST_CASE("avo: one line of descent whose head never fell, and a supervisor") {
  auto server = std::make_unique<scripted::server>(agent_at_work);
  const scripted::project p("  models: []\n", "", "n > 90000 ? 1 : n % 97 + 1");
  const auto ended = p.answer(scripted::system_on(p, "avo", server->url(), {"stop={proposals: 6}"}));
  CHECK(ended.at("stopped_by").as_string() == "6 proposals");
  server.reset();

  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  std::vector<kevo::candidate_id> heads;
  double best = 0;
  std::map<kevo::candidate_id, double> scores;
  record.for_each_event([&](const kevo::event& e) {
    if (const auto* told = std::get_if<kevo::evaluation_told>(&e.payload))
      scores[told->candidate] = told->result->score;
    const auto* asked = std::get_if<kevo::variation_asked>(&e.payload);
    if (asked == nullptr) return;
    REQUIRE(asked->selection.parents.size() == 1);
    const kevo::candidate_id head = asked->selection.parents.front();
    const auto known = record.candidate(head);
    CHECK(scores.at(head) >= best);
    best = scores.at(head);
    // The versions before it, newest first.
    std::vector<kevo::candidate_id> line;
    for (auto at = known; !at->parents.empty(); at = record.candidate(at->parents.front()))
      line.push_back(at->parents.front());
    CHECK(asked->selection.inspirations == line);
    if (heads.empty() || heads.back() != head) heads.push_back(head);
  });
  CHECK(heads.size() >= 4);
  std::size_t reviews = 0;
  std::size_t advised = 0;
  std::size_t lineages = 0;
  record.for_each_model_call([&](kevo::ticket, std::int64_t number) {
    const auto calls = record.model_calls(std::vector{number});
    const std::string& messages = calls.front().messages;
    reviews += has(messages, "You propose directions") ? 1U : 0U;
    reviews +=
        has(messages, "8 evaluations in a row brought no gain") && has(messages, "You propose directions")
            ? 100U
            : 0U;
    advised += has(messages, "DIRECTION_A") ? 1U : 0U;
    lineages += has(messages, "## Earlier attempts") ? 1U : 0U;
  });
  CHECK(reviews >= 101);
  CHECK(advised > 0);
  CHECK(lineages > 0);
  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});  // without a server
  CHECK_MESSAGE(has(again.out, "all decisions were the same"), again.out << again.err);
}

TEST_CASE("avo: a run that is resumed goes on with the notes that it had") {
  scripted::server server(agent_at_work);
  const scripted::project p("  models: []\n", "", "n > 90000 ? 1 : n % 97 + 1");
  p.answer(scripted::system_on(p, "avo", server.url(), {"stop={proposals: 2}"}));
  // The notes that were written last, and whether the first turn after them was given them.
  const auto turns = [&] {
    const auto record = kevo::journal::open_read_only((p.folder / "run").string());
    std::vector<std::pair<std::string, std::string>> found;  // last notes before a turn, its first messages
    std::string notes;
    std::set<kevo::ticket> begun;
    record.for_each_model_call([&](kevo::ticket job, std::int64_t number) {
      const auto calls = record.model_calls(std::vector{number});
      if (has(calls.front().messages, "You propose directions")) return;
      if (begun.insert(job).second) found.emplace_back(notes, calls.front().messages);
      const std::string& reply = calls.front().response;
      if (const auto at = reply.find("NOTES_AFTER_"); at != std::string::npos)
        notes = reply.substr(at, reply.find('<', at) - at);
    });
    return found;
  };
  const std::size_t before = turns().size();
  REQUIRE(before >= 2);
  p.answer({"resume", "run", "--set", "stop={proposals: 4}"});
  const auto all = turns();
  REQUIRE(all.size() >= before + 2);
  for (std::size_t i = 1; i < all.size(); ++i) {
    CAPTURE(i);
    REQUIRE_FALSE(all[i].first.empty());
    CHECK(has(all[i].second, all[i].first));
  }
}
