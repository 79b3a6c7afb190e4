// What follows a page (tests/support/page.hpp) notices what is wrong in one.

#include <string>

#include <doctest/doctest.h>

#include "tests/support/page.hpp"

TEST_CASE("output is compared without figures, blanks and what the page leaves out") {
  CHECK(
      page::line_shows("best: candidate 12, 1.74x [1.7, 1.8] over seed", "best: candidate 3, ... over seed"));
  CHECK(page::line_shows("  one  hidden      valid  ", "  one  hidden valid"));
  CHECK(page::line_shows("took 5.49 s, 3 s of it", "took 12 s..."));
  CHECK_FALSE(page::line_shows("best: candidate 12, nothing", "best: candidate 3, ... over seed"));
  CHECK_FALSE(page::line_shows("my_kernel: incorrect", "my_kernel: valid"));
  CHECK_FALSE(page::line_shows("my_kernel: valid, and more", "my_kernel: valid"));
  CHECK_FALSE(page::line_shows("so my_kernel: valid", "my_kernel: valid"));
  CHECK(page::lacks("a\nb\nc\n", "a\nc\n").empty());
  CHECK(page::lacks("a\nb\nc\n", "c\na\n") == "a");
}

TEST_CASE("a page is followed in its order, and what it says wrongly is a failure") {
  const shell::scratch folder;
  const auto right = page::follow(
      "```text file=a.txt\nhello\n```\n\n```sh\ncat a.txt\n```\n\n```text output\nhello\n```\n"
      "```sh exit=3\nexit 3\n```\n```sh not-run: needs a GPU\nfalse\n```\n<!-- test: touch hidden -->\n"
      "```sh\nls hidden\n```\n```cpp from=include/kevo/kevo.hpp\n#pragma once\n```\n",
      folder.string());
  CHECK_MESSAGE(right.failures.empty(), right.failures.front());
  CHECK(right.run == 3);
  CHECK(right.not_run == 1);
  CHECK(page::follow("```sh\nfalse\n```\n", folder.string()).failures.size() == 1);
  CHECK(page::follow("```sh\nfalse\ntrue\n```\n", folder.string()).failures.size() == 1);
  CHECK(page::follow("```sh\necho a\n```\n```text output\nb\n```\n", folder.string()).failures.size() == 1);
  CHECK(page::follow("```sh\necho a\n```\n```sh not-run: needs a GPU\necho b\n```\n```text output\nb\n```\n",
                     folder.string())
            .failures.empty());
  CHECK(page::follow("```sh not-run:\nfalse\n```\n", folder.string()).failures.size() == 1);
  CHECK(
      page::follow("```cpp from=include/kevo/kevo.hpp\nnot there\n```\n", folder.string()).failures.size() ==
      1);
}

namespace {

/// Whether a process runs no more; its parent may not have been told yet.
bool has_ended(int id) {
  return !kevo_test::state_of(id).runs;
}

}  // namespace

TEST_CASE("what a page left running ends with it, also where it fails") {
  const shell::scratch folder;
  for (const char* last : {"true", "false"}) {
    const auto done = page::follow(
        "```sh\nsleep 600 & echo $! > id\n(trap '' TERM; exec sleep 601) & echo $! > stubborn\n```\n"
        "```sh\n" +
            std::string(last) + "\n```\n",
        folder.string());
    CHECK(done.failures.size() == (std::string(last) == "false" ? 1 : 0));
    for (const char* file : {"id", "stubborn"}) {
      const int id = std::stoi(shell::read_file(folder / file));
      REQUIRE(id > 1);
      CHECK_MESSAGE(has_ended(id), file);
    }
  }
}

TEST_CASE("a process with much memory has ended, too, when its page has") {
  // Giving the memory back takes some ms, in which the process has no environment any more.
  const shell::scratch folder;
  for (int i = 0; i < 3; ++i) {
    const auto done = page::follow(
        "```sh\n{ head -c 400M /dev/zero; touch ready; exec sleep 600; } | tail -n 1 & echo $! > large\n"
        "while [ ! -e ready ]; do sleep 0.02; done; rm ready\n```\n",
        folder.string());
    CHECK(done.failures.empty());
    CHECK(has_ended(std::stoi(shell::read_file(folder / "large"))));
  }
}

TEST_CASE("a page sees that what it ended has ended") {
  const shell::scratch folder;
  const auto done = page::follow(
      "```sh\nsleep 600 & echo $! > id\n```\n```sh\nkill $(cat id)\nfor i in $(seq 100); do kill -0 $(cat "
      "id) "
      "2>/dev/null || exit 0; sleep 0.05; done; exit 1\n```\n",
      folder.string());
  CHECK(done.failures.empty());
}

TEST_CASE("the port that a page names is a free one in each of its tests") {
  const std::string page = "<!-- test port: 8750 -->\n```sh\necho http://127.0.0.1:8750\n```\n";
  const std::string replaced = page::with_free_ports(page);
  CHECK(replaced.find("8750") == std::string::npos);
  CHECK(page::steps_of(replaced).at(0).text.starts_with("echo http://127.0.0.1:"));
  CHECK(page::with_free_ports("8750") == "8750");
  const std::string two =
      page::with_free_ports("<!-- test port: 8750 --><!-- test port: 8751 -->\n8750 8751 87501");
  const std::string used = two.substr(two.find('\n') + 1);
  CHECK(used.find("8750 ") == std::string::npos);
  CHECK(used.find("8751 ") == std::string::npos);
  CHECK(used.substr(0, used.find(' ')) !=
        used.substr(used.find(' ') + 1, used.rfind(' ') - used.find(' ') - 1));
  CHECK(used.ends_with(" 87501"));
}

TEST_CASE("a test shortens a command of the program without the reader seeing it") {
  const auto steps = page::steps_of(
      "<!-- test with: --set stop='{evaluations: 1}' -->\n```sh\nkevo run a.yaml   # goes on\nls\n```\n"
      "```sh\nkevo show a\n```\n");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].text == "kevo run a.yaml  --set stop='{evaluations: 1}'\nls\n");
  CHECK(steps[1].text == "kevo show a\n");
}
