// The manual page and the completion scripts know every verb and every option that --help knows.

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace {

shell::result kevo(std::vector<std::string> words) {
  return shell::run(shell::kevo(std::move(words)));
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

// What bash offers for a command line whose last word is being typed.
std::vector<std::string> completed(const std::string& script, const std::vector<std::string>& words) {
  const shell::scratch folder;
  std::string line;
  for (const auto& word : words) line += " '" + word + "'";
  shell::write_file(folder / "try.sh", script + "\nCOMP_WORDS=(" + line +
                                           ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) +
                                           "\n_kevo\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  const auto ran = shell::run({"/bin/bash", "--norc", folder / "try.sh"});
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  return matches(ran.out, "([^\n]+)\n");
}

}  // namespace

TEST_CASE("bash completes verbs, verbs of verbs and options") {
  const auto script = kevo({"completion", "bash"}).out;
  CHECK(completed(script, {"kevo", "ev"}) == std::vector<std::string>{"eval"});
  CHECK(completed(script, {"kevo", "re"}) == std::vector<std::string>{"resume", "rejudge", "report"});
  CHECK(completed(script, {"kevo", "task", ""}) == std::vector<std::string>{"check"});
  CHECK(completed(script, {"kevo", "run", "--repl"}) ==
        std::vector<std::string>{"--replay", "--replay-models"});
  CHECK(completed(script, {"kevo", "eval", "--plain"}).empty());
}

TEST_CASE("all options of --help are on the manual page and in every completion") {
  const auto page = kevo({"man"}).out;
  const auto bash = kevo({"completion", "bash"}).out;
  const auto zsh = kevo({"completion", "zsh"}).out;
  const auto fish = kevo({"completion", "fish"}).out;
  const auto verbs = matches(kevo({"--help"}).out, "\n  ([a-z]+)  ");
  REQUIRE(verbs.size() > 10);
  int options = 0;
  for (const auto& verb : verbs) {
    CAPTURE(verb);
    const auto at = page.find("\n.SS kevo " + verb);
    REQUIRE(at != std::string::npos);
    const std::string section = page.substr(at + 1, page.find("\n.SS ", at + 1) - at);
    for (const auto& option : matches(kevo({verb, "--help"}).out, "\n  [^\n ]*(--[a-z-]+)")) {
      CAPTURE(option);
      ++options;
      CHECK(section.find(std::regex_replace(option, std::regex("-"), "\\-")) != std::string::npos);
      CHECK(std::regex_search(bash, std::regex("'" + verb + "'\\).*" + option + "[ ']")));
      CHECK(zsh.find(option + "[") != std::string::npos);
      CHECK(std::regex_search(fish, std::regex("from " + verb + "'.* -l " + option.substr(2) + "[ \n]")));
    }
  }
  CHECK(options > 40);
}

TEST_CASE("an unknown shell is an error that names the known ones") {
  const auto wrong = kevo({"completion", "tcsh"});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("'tcsh'") != std::string::npos);
  CHECK(wrong.err.find("bash, zsh or fish") != std::string::npos);
}
