// timeout: 120
// configs/systems/openevolve.yaml and kernel_smith.yaml on a toy task with a scripted model: prompts hold
// programs of the parent's own island, and migrants arrive on the next island.

#include <doctest/doctest.h>

#include <kevo/archive/feature_map.hpp>

#include "src/journal/journal.hpp"
#include "tests/support/system_run.hpp"

namespace {

/// Runs a system with a shorter interval of migration and checks what both systems share.
void check_islands(const std::string& system, std::vector<std::string> features, bool edits) {
  auto server = std::make_unique<scripted::server>([edits](const scripted::request& r) {
    const std::string next = scripted::number_of(r.number);
    return scripted::says(edits ? scripted::value_edit(scripted::parent_number(r.body), next)
                                : scripted::value_reply(std::stoll(next)));
  });
  const scripted::project p("  models: []\n", "");
  const auto ended = p.answer(
      scripted::system_on(p, system, server->url(), {"archive.interval=6", "stop={proposals: 150}"}));
  CHECK(ended.at("valid").to_number<int>() >= 80);
  server.reset();

  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  scripted::islands_replayed run{kevo::islands(kevo::feature_map(std::move(features)),
                                               kevo::topology::ring(5),
                                               {.interval = 6, .count_rejected = true, .share = 0.1})};
  run.follow(record);
  CHECK(run.answers >= 80);
  CHECK(run.other_answers == 0);  // the run's archive was the config's: islands of grids over these features
  CHECK(run.selections >= 150);
  CHECK(run.turns.size() == 5);  // every island has its turns
  for (const auto& one : run.turns) CHECK_MESSAGE(one.second >= 15, "island " << one.first);
  CHECK(run.shown >= 300);
  CHECK(run.strangers == 0);
  CHECK(run.world.migrations() >= 3);
  CHECK(run.welcomed >= 3);
  CHECK(scripted::missing_in_prompts(record, run) == 0);
  MESSAGE(system << ": " << run.shown << " inspirations, " << run.world.migrations() << " migrations, "
                 << run.welcomed << " migrants in prompts");

  const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});  // without a server
  CHECK_MESSAGE(again.out.find("all decisions were the same") != std::string::npos, again.out << again.err);
}

}  // namespace

TEST_CASE("openevolve: islands of grids over complexity and diversity, with migration on a ring") {
  check_islands("openevolve", {"complexity", "diversity"}, true);
}

TEST_CASE("kernel_smith: islands of grids over complexity and score, with migration on a ring") {
  check_islands("kernel_smith", {"complexity", "score"}, false);
}
