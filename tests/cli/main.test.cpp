// The command line itself: words that are no verbs, and the version.

#include <filesystem>
#include <optional>
#include <sched.h>
#include <sstream>
#include <string>
#include <utility>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace {

shell::result kevo_ended(std::vector<std::string> words) {
  return shell::run(shell::kevo(std::move(words)));
}

}  // namespace

TEST_CASE("a word that is no verb is named, with the nearest verb") {
  const auto near = kevo_ended({"exprot", "runs/x"});
  CHECK(near.code == 2);
  CHECK(near.err.find("no command 'exprot'") != std::string::npos);
  CHECK(near.err.find("did you mean 'export'?") != std::string::npos);

  const auto far = kevo_ended({"frobnicate"});
  CHECK(far.code == 2);
  CHECK(far.err.find("no command 'frobnicate'") != std::string::npos);
  CHECK(far.err.find("resume") != std::string::npos);
  CHECK(far.err.find("kevo --help") != std::string::npos);

  const auto nested = kevo_ended({"task", "chekc", "task.yaml"});
  CHECK(nested.code == 2);
  CHECK(nested.err.find("kevo task has no command 'chekc' (did you mean 'check'?") != std::string::npos);

  const auto as_json = kevo_ended({"frobnicate", "--json"});
  CHECK(as_json.code == 2);
  CHECK(as_json.err.empty());
  CHECK(boost::json::parse(as_json.out).at("error").at("code") == "usage");
}

TEST_CASE("a known verb with wrong words is told of these words, not of the verb") {
  const auto ended = kevo_ended({"show", "--limti", "3"});
  CHECK(ended.code == 2);
  CHECK(ended.err.find("no verb") == std::string::npos);
  CHECK(kevo_ended({}).err.find("no verb") == std::string::npos);
}

TEST_CASE("--version says what the verb says") {
  const auto flag = kevo_ended({"--version"});
  CHECK(flag.code == 0);
  CHECK(flag.out.starts_with("kevo "));
  CHECK(flag.out == kevo_ended({"version"}).out);
}

TEST_CASE("the reference describes every key in words that can be read without its row") {
  const auto printed = kevo_ended({"run", "--reference"});
  REQUIRE(printed.code == 0);
  std::istringstream lines(printed.out);
  std::size_t keys = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    ++keys;
    const auto end = line.rfind(" |");
    const auto begin = line.rfind(" | ", end - 1) + 3;
    const std::string meaning = line.substr(begin, end - begin);
    std::istringstream split(meaning);
    std::string first, word;
    split >> first;
    std::size_t words = 1;
    while (split >> word) ++words;
    CHECK_MESSAGE(words >= 3, line);
    for (const char* fragment : {"of", "that", "in", "at", "until"}) {
      const bool is_fragment = first == fragment;
      CHECK_MESSAGE(!is_fragment, line);
    }
  }
  CHECK(keys > 300);
}

TEST_CASE("--help and the manual page name every exit code") {
  const auto help = kevo_ended({"--help"});
  CHECK(help.code == 0);
  std::string words;  // without the line breaks
  for (const char c : help.out) {
    const char each = c == '\n' ? ' ' : c;
    if (each != ' ' || words.empty() || words.back() != ' ') words += each;
  }
  for (const char* code :
       {"0 the command did its job", "1 the machine failed", "2 the command line or an input is wrong",
        "(kevo attack --fail)", "3 a run ended without a confirmed best program (--require-confirmed)",
        "130 interrupted"})
    CHECK_MESSAGE(words.find(code) != std::string::npos, code << "\n" << help.out);
  const auto page = kevo_ended({"man"}).out;
  const auto status = page.find(".SH EXIT STATUS");
  REQUIRE(status != std::string::npos);
  for (const char* code : {"0", "1", "2", "3", "130"})
    CHECK_MESSAGE(page.find(std::string(".TP\n") + code + "\n", status) != std::string::npos, code);
}

namespace {

/// Runs `kevo doctor --json` and `kevo doctor` with only `count` of the processors; nothing if there are
/// fewer.
std::optional<std::pair<std::string, std::string>> doctor_on(int count) {
  cpu_set_t before;
  CPU_ZERO(&before);
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  if (CPU_COUNT(&before) < count) return std::nullopt;
  cpu_set_t few;
  CPU_ZERO(&few);
  for (int cpu = 0; CPU_COUNT(&few) < count; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &few);
  }
  REQUIRE(::sched_setaffinity(0, sizeof few, &few) == 0);
  std::pair<std::string, std::string> said{kevo_ended({"doctor", "--json"}).out, kevo_ended({"doctor"}).out};
  CHECK(::sched_setaffinity(0, sizeof before, &before) == 0);
  return said;
}

}  // namespace

TEST_CASE("kevo doctor finds Triton where PyTorch is") {
  const std::string torch = KEVO_SOURCE_DIR "/build/torch";
  if (!std::filesystem::exists(torch + "/triton")) return kevo_test::skip("there is no PyTorch with Triton");
  const shell::scratch folder;
  shell::write_file(folder / "bin/kevo", shell::read_file(shell::kevo({"doctor"}).front()));
  std::filesystem::permissions(folder / "bin/kevo", std::filesystem::perms::all);
  std::filesystem::create_directory_symlink(torch, folder / "torch");
  const auto said = shell::run({(folder / "bin/kevo").string(), "doctor"}).out;
  CHECK_MESSAGE(said.find("ok  Triton") != std::string::npos, said);
}

TEST_CASE("kevo doctor says what builds do while a candidate is timed: stand still on one processor only") {
  const std::string paused = "; builds are paused while a candidate is timed";
  const auto one = doctor_on(1);
  REQUIRE(one);
  CHECK(boost::json::parse(one->first).at("pauses_builds").as_bool());
  CHECK_MESSAGE(one->second.find(paused) != std::string::npos, one->second);
  if (const auto two = doctor_on(2)) {
    CHECK_FALSE(boost::json::parse(two->first).at("pauses_builds").as_bool());
    CHECK_MESSAGE(two->second.find(paused) == std::string::npos, two->second);
    CHECK_MESSAGE(two->second.find("builds have only what is left of CPU ") != std::string::npos,
                  two->second);
  }
}
