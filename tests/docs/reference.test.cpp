// labels: slow
// timeout: 600
// one processor
// The commands of README.md, CONTRIBUTING.md and of the reference pages, in a folder that looks like the
// source tree and holds the run of `kevo init` that these pages speak of.

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/page.hpp"
#include "tests/support/unrun.hpp"

namespace {

namespace fs = std::filesystem;

/// The folder that reference pages are followed in: links to the source tree, `my_kernel` and `runs/first`.
void prepare(const fs::path& folder) {
  ::chmod(folder.c_str(), 0755);  // the sandbox's user reads it
  for (const char* name : {"configs", "examples", "include", "docs"}) {
    fs::create_directory_symlink(fs::path(KEVO_SOURCE_DIR) / name, folder / name);
  }
  fs::create_directory(folder / "build");
  fs::create_directory_symlink(KEVO_BINARY_DIR, folder / "build/release");
  const auto done = page::follow(
      "```sh\nkevo init my_kernel\n"
      "kevo run my_kernel/config.yaml --set run.output=\"$PWD/runs/first\" --set 'stop={evaluations: 4}' "
      "--set 'fitness.timing={short: 0.1, full: 0.2, sustained: 0.05}'\n```\n",
      folder);
  REQUIRE_MESSAGE(done.failures.empty(), done.failures.front());
}

}  // namespace

TEST_CASE("the commands of the README and of every reference page end as the pages say") {
  const shell::scratch prepared;
  prepare(prepared / "");
  std::vector<fs::path> pages = {KEVO_SOURCE_DIR "/README.md", KEVO_SOURCE_DIR "/CONTRIBUTING.md"};
  for (const auto& file : fs::recursive_directory_iterator(KEVO_SOURCE_DIR "/docs")) {
    const bool guide = file.path().parent_path().filename() == "guide";
    if (file.path().extension() == ".md" && !guide) pages.push_back(file.path());
  }
  std::sort(pages.begin(), pages.end());
  std::size_t run = 0;
  std::size_t not_run = 0;
  for (const auto& path : pages) {
    const std::string markdown = shell::read_file(path);
    if (page::steps_of(markdown).empty()) continue;
    const shell::scratch folder;
    ::chmod(folder.string().c_str(), 0755);
    fs::copy(prepared.string(), folder.string(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    page::unrun_commands unrun(folder.string());
    const auto done = page::follow(markdown, folder.string(),
                                   [&](const std::string& commands) { return unrun.faults_of(commands); });
    const std::string name = path.lexically_relative(KEVO_SOURCE_DIR).string();
    for (const auto& failure : done.failures) FAIL_CHECK(name << ", " << failure);
    for (const auto& reason : done.reasons) MESSAGE("not run: " << name << ":" << reason);
    run += done.run;
    not_run += done.not_run;
  }
  CHECK(run >= 15);
  MESSAGE(run << " blocks of commands were run, " << not_run << " were not");
}
