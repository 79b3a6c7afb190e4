// timeout: 120
// Every config of a published system: short, complete, documented, and honest about what differs. On a toy
// task with a scripted model, each turn of dr_kernel is shown the best turns before it, and none of
// autotriton sees another.

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/system_run.hpp"

namespace fs = std::filesystem;

namespace {

/// Numbers of which some are better than all before, and some are wrong.
scripted::answer next_number(const scripted::request& r) {
  return scripted::says(scripted::value_reply(static_cast<long long>(1000 + r.number * 37)));
}

struct shown_turn {
  std::vector<kevo::candidate_id> shown;  ///< parent first
  std::vector<kevo::candidate_id> best;   ///< of all valid candidates before it, the four best
  std::string prompt;
};

std::vector<shown_turn> turns_of(const kevo::journal& record) {
  std::map<kevo::ticket, std::string> prompts;
  record.for_each_model_call([&](kevo::ticket turn, std::int64_t number) {
    prompts[turn] += record.model_calls(std::vector{number}).front().messages;
  });
  std::vector<shown_turn> turns;
  std::map<kevo::candidate_id, double> scores;
  record.for_each_event([&](const kevo::event& e) {
    const auto* told = std::get_if<kevo::evaluation_told>(&e.payload);
    if (told != nullptr && told->result->valid()) scores[told->candidate] = told->result->score;
    const auto* asked = std::get_if<kevo::variation_asked>(&e.payload);
    if (asked == nullptr) return;
    shown_turn turn{asked->selection.parents, {}, prompts[asked->job]};
    for (const auto other : asked->selection.inspirations) turn.shown.push_back(other);
    for (const auto& one : scores) turn.best.push_back(one.first);
    std::sort(turn.best.begin(), turn.best.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
    if (turn.best.size() > 4) turn.best.resize(4);
    turns.push_back(std::move(turn));
  });
  return turns;
}

}  // namespace

TEST_CASE("each system is one short config that says what differs, resolves, and is documented") {
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/systems.md");
  std::vector<fs::path> systems;
  for (const auto& file : fs::directory_iterator(KEVO_SOURCE_DIR "/configs/systems"))
    systems.push_back(file.path());
  CHECK(systems.size() >= 11);
  const shell::scratch folder;
  for (const auto& system : systems) {
    CAPTURE(system.string());
    const std::string text = shell::read_file(system);
    CHECK(std::count(text.begin(), text.end(), '\n') < 60);
    CHECK(text.find("# Differences from the ") != std::string::npos);
    CHECK(page.find("`configs/systems/" + system.filename().string() + "`") != std::string::npos);
    const auto printed = shell::run(shell::kevo({"run", system.string(), "--print-config"}), folder.string());
    CHECK_MESSAGE(printed.code == 0, printed.err);
    for (const char* section : {"task:", "fitness:", "llm:", "archive:", "select:", "vary:", "stop:"})
      CHECK_MESSAGE(printed.out.find(section) != std::string::npos, section);
  }
}

TEST_CASE("the page of systems names headers and configs that exist") {
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/systems.md");
  std::size_t links = 0;
  for (auto at = page.find("](../"); at != std::string::npos; at = page.find("](../", at + 1), ++links) {
    const std::string path = page.substr(at + 5, page.find(')', at) - at - 5);
    CHECK_MESSAGE(fs::exists(fs::path(KEVO_SOURCE_DIR) / path), path);
  }
  CHECK(links >= 20);
}

TEST_CASE("dr_kernel: each turn is shown the four best turns before it, and nothing else") {
  const scripted::server server(next_number);
  const scripted::project p("  models: []\n", "");
  const auto ended = p.answer(scripted::system_on(p, "dr_kernel", server.url()));
  CHECK(ended.at("stopped_by").as_string() == "14 proposals");
  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  const auto turns = turns_of(record);
  CHECK(turns.size() == 14);
  for (const shown_turn& turn : turns) {
    CHECK(turn.shown == turn.best);
    CHECK_FALSE(has(turn.prompt, "## Earlier attempts"));
    for (const auto id : turn.shown) {
      const bool seed = record.candidate(id)->parents.empty();  // one that is outdone is not shown
      CHECK((seed || scripted::is_shown(turn.prompt, id)));
    }
  }
  CHECK(turns.back().shown.size() == 4);
}

TEST_CASE("autotriton: every program is made from a seed, and sees no other") {
  const scripted::server server(next_number);
  const scripted::project p("  models: []\n", "");
  const auto ended = p.answer(scripted::system_on(p, "autotriton", server.url()));
  CHECK(ended.at("stopped_by").as_string() == "16 proposals");
  const auto turns = turns_of(kevo::journal::open_read_only((p.folder / "run").string()));
  CHECK(turns.size() >= 16);  // two at a time
  for (const shown_turn& turn : turns) {
    CHECK(turn.shown == std::vector<kevo::candidate_id>{0});
    CHECK_FALSE(has(turn.prompt, "## Earlier attempts"));
  }
}
