// labels: slow
// timeout: 600
// one processor
// Each page of docs/guide can be followed from an empty folder: its files are written, its commands are run,
// and they print what the page says.

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/page.hpp"
#include "tests/support/unrun.hpp"

TEST_CASE("every page of the guide can be followed from an empty folder") {
  std::vector<std::filesystem::path> pages;
  for (const auto& file : std::filesystem::directory_iterator(KEVO_SOURCE_DIR "/docs/guide")) {
    if (file.path().extension() == ".md") pages.push_back(file.path());
  }
  std::sort(pages.begin(), pages.end());
  CHECK(pages.size() >= 10);
  std::size_t run = 0;
  std::size_t not_run = 0;
  for (const auto& path : pages) {
    const shell::scratch folder;
    ::chmod(folder.string().c_str(), 0755);  // the sandbox's user reads it
    page::unrun_commands unrun(folder.string());
    const auto done = page::follow(shell::read_file(path), folder.string(),
                                   [&](const std::string& commands) { return unrun.faults_of(commands); });
    for (const auto& failure : done.failures) FAIL_CHECK(path.filename().string() << ", " << failure);
    for (const auto& reason : done.reasons) MESSAGE("not run: " << path.filename().string() << ":" << reason);
    CHECK_MESSAGE(done.run > 0, path.filename().string() << " has no command that is run");
    run += done.run;
    not_run += done.not_run;
  }
  MESSAGE(run << " blocks of commands were run, " << not_run << " were not");
}
