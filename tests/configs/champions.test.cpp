// The shipped champions are their seeds with other values of tunables, and the documentation has a row for
// each. KEVO_WRITE_CHAMPIONS=1 writes their files anew, where a seed was changed.

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>

#include "operators/tune/setting_space.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/configs/champion_table.hpp"

namespace fs = std::filesystem;

TEST_CASE("a champion is its seed with the settings of the table") {
  std::set<std::string> files = {"champions.yaml"};
  for (const auto& one : champions::all()) {
    CAPTURE(one.name);
    const auto seed = kevo::program_of(one.language(), shell::read_file(champions::folder + one.seed));
    const auto tuned = kevo::program_of(
        one.language(), one.build + std::string(kevo::set_tunables(seed, one.setting).text()));
    const std::string file = champions::folder + one.file();
    files.insert(one.file());
    if (std::getenv("KEVO_WRITE_CHAMPIONS") != nullptr) shell::write_file(file, std::string(tuned.text()));
    CHECK_MESSAGE(shell::read_file(file) == tuned.text(),
                  "the seed was changed: run this test with KEVO_WRITE_CHAMPIONS=1 and measure again");
    CHECK(tuned.text() != seed.text());
    const kevo::setting_space space(kevo::parse_annotations(tuned));
    CHECK(space.valid(space.current()));
    // The seed is one of the task's.
    const auto t = kevo::load_task(champions::folder + one.task);
    bool known = false;
    for (const auto& other : t.seeds) known = known || other.text() == seed.text();
    CHECK(known);
  }
  CHECK(files.size() >= 10);
  for (const auto& entry : fs::directory_iterator(champions::folder))
    CHECK_MESSAGE(files.contains(entry.path().filename().string()), entry.path().string());
}

TEST_CASE("docs/champions.md has a row for each, with its figure, device and date") {
  const auto page = shell::read_file(KEVO_SOURCE_DIR "/docs/champions.md");
  for (const auto& one : champions::all()) {
    CAPTURE(one.name);
    const auto at = page.find("| `" + one.file() + "` |");
    REQUIRE(at != std::string::npos);
    const auto row = page.substr(at, page.find('\n', at) - at);
    for (const auto& part : {one.figure, one.device, one.date})
      CHECK_MESSAGE(row.find(part) != std::string::npos, row);
    for (const auto& entry : one.setting)
      CHECK_MESSAGE(row.find(entry.first + " " + entry.second) != std::string::npos, entry.first);
  }
}
