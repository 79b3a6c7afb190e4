// timeout: 120
// configs/systems/mtmc.yaml on a toy task with a scripted model: the journal shows that each turn chose one
// type of step and one region, that the prompt which wrote it named exactly these, and that the run ended
// when the policy said so.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/system_run.hpp"

namespace {

const std::vector<std::string> types = {"tiling",     "fusion",        "reordering",
                                        "pipelining", "vectorization", "packing"};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Chooses the steps in turn, and after the twelfth none any more.
scripted::answer planner_and_coder(const scripted::request& r) {
  if (!has(r.body, "## Steps to choose from"))
    return scripted::says(
        scripted::value_edit(scripted::parent_number(r.body), std::to_string(1001 + 3 * r.number)));
  const std::size_t turn = r.number / 2;
  return scripted::says("It is memory bound.\nStep: " +
                        std::to_string(turn < 12 ? turn % types.size() + 1 : types.size() + 1));
}

}  // namespace

TEST_CASE("mtmc: each step is one type in one region, and the policy may stop") {
  auto server = std::make_unique<scripted::server>(planner_and_coder);
  const scripted::project p("  models: []\n", "");
  const auto ended = p.answer(scripted::system_on(p, "mtmc", server->url()));
  CHECK(ended.at("stopped_by").as_string() == "operators exhausted");
  server.reset();

  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  std::map<kevo::ticket, std::vector<std::string>> prompts;
  std::map<kevo::ticket, std::vector<std::string>> replies;
  record.for_each_model_call([&](kevo::ticket turn, std::int64_t number) {
    const auto calls = record.model_calls(std::vector{number});
    REQUIRE(calls.size() == 1);
    prompts[turn].push_back(calls.front().messages);
    replies[turn].push_back(calls.front().response);
  });
  std::size_t steps = 0;
  std::size_t stops = 0;
  for (const auto& [turn, asked] : prompts) {
    REQUIRE(asked.size() <= 2);
    CHECK(has(asked.front(), "P1 the whole file"));
    for (std::size_t i = 0; i < types.size(); ++i) {  // a choice, explained
      const std::string list =
          asked.front().substr(std::min(asked.front().find(types[i] + ", "), asked.front().size()));
      CHECK(has(list.substr(0, 120), ": " + std::to_string(i + 1) + " at P1"));
    }
    CHECK(has(asked.front(), "stop, no step promises a gain: 7"));
    if (has(replies.at(turn).front(), "Step: 7")) {
      ++stops;
      CHECK(asked.size() == 1);
      continue;
    }
    REQUIRE(asked.size() == 2);
    ++steps;
    CHECK(count(asked.back(), "Step: ") == 1);
    std::size_t named = 0;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!has(asked.back(), "Step: " + types[i] + " of the whole file")) continue;
      ++named;
      CHECK(has(replies.at(turn).front(), "Step: " + std::to_string(i + 1)));
    }
    CHECK(named == 1);
    // The state that the choice sees has the steps before, with what became of them.
    if (steps > 1) CHECK(has(asked.front(), "## Earlier attempts"));
  }
  CHECK(steps == 12);
  CHECK(stops >= 5);
  std::size_t heads = 0;
  double best = 0;
  std::map<kevo::candidate_id, double> scores;
  record.for_each_event([&](const kevo::event& e) {
    if (const auto* told = std::get_if<kevo::evaluation_told>(&e.payload))
      scores[told->candidate] = told->result->score;
    const auto* asked = std::get_if<kevo::variation_asked>(&e.payload);
    // Where the policy has stopped, the search offers it other programs before it ends the run.
    if (asked == nullptr || prompts.at(asked->job).size() < 2) return;
    REQUIRE(asked->selection.parents.size() == 1);
    const double head = scores.at(asked->selection.parents.front());
    CHECK(head >= best);
    heads += head > best ? 1U : 0U;
    best = head;
  });
  CHECK(heads >= 3);
  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});  // without a server
  CHECK_MESSAGE(has(again.out, "all decisions were the same"), again.out << again.err);
}
