// labels: slow
// timeout: 600
// serial
// The commands of docs/judging.md, in its order, on a task that `kevo init` wrote and a run of it.

#include <sstream>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "src/base/sqlite/sqlite.hpp"
#include "tests/support/shell.hpp"

namespace json = boost::json;

namespace {

/// The lines of a page's `sh` blocks that begin with `kevo`, as words.
std::vector<std::vector<std::string>> commands_of(const std::string& page) {
  std::vector<std::vector<std::string>> all;
  std::istringstream lines(page);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) inside = line == "```sh";
    if (!inside || !line.starts_with("kevo ")) continue;
    std::istringstream words(line.substr(5));
    all.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return all;
}

bool says(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE("the commands of docs/judging.md end well, and its exploit is one") {
  const shell::scratch folder;
  const auto kevo = [&](const std::vector<std::string>& words) {
    const auto ended = shell::run(shell::kevo(words), folder.string());
    std::string line;
    for (const auto& word : words) line += word + ' ';
    CHECK_MESSAGE(ended.code == 0, line << ": " << ended.out << ended.err);
    return ended;
  };
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/judging.md");
  const auto begin = page.find("// found_later/doubled.cpp\n");
  REQUIRE(begin != std::string::npos);
  shell::write_file(folder / "found_later/doubled.cpp", page.substr(begin, page.find("```", begin) - begin));
  kevo({"init", "my_kernel"});
  // Not as many pairs as a true answer takes: what the commands do is asked here.
  const std::string quick = "fitness.timing={short: 0.1, full: 0.2, sustained: 0.05}";
  kevo({"run", "my_kernel/config.yaml", "--json", "--set", "stop={evaluations: 2}", "--set", quick, "--set",
        "run.output=runs/first"});

  std::size_t attacks = 0;
  std::size_t judgements = 0;
  std::string doubled;
  for (auto words : commands_of(page)) {
    if (words.front() == "attack" && !says(words, "--list")) {
      ++attacks;
      words.insert(words.end(), {"--set", quick, "--set", "fitness.cache=cache"});        // builds are shared
      if (!says(words, "--only")) words.insert(words.end(), {"--only", "cpp/constant"});  // not all of them
    }
    judgements += words.front() == "rejudge" ? 1 : 0;
    const auto ended = kevo(words);
    if (says(words, "doubled")) doubled = ended.out;
  }
  CHECK(attacks >= 5);
  CHECK(judgements >= 6);
  CHECK_MESSAGE(doubled.find("0 of 1 exploits got through, 1 caught") != std::string::npos, doubled);
}

TEST_CASE("docs/journal.md names every column of rejudged.sqlite") {
  const shell::scratch folder;
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/journal.md");
  const auto begin = page.find("## rejudged.sqlite");
  REQUIRE(begin != std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin + 3) - begin);
  const std::string source = shell::read_file(KEVO_SOURCE_DIR "/src/journal/rejudged.cpp");
  const auto from = source.find("CREATE TABLE rejudged (\n");
  REQUIRE(from != std::string::npos);
  std::istringstream columns(source.substr(from, source.find(") STRICT", from) - from));
  std::string line;
  std::getline(columns, line);
  std::size_t count = 0;
  while (std::getline(columns, line)) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name)) continue;
    ++count;
    const bool named = section.find("| " + name + " ") != std::string::npos ||
                       section.find("| " + name + ",") != std::string::npos ||
                       section.find(", " + name + ",") != std::string::npos ||
                       section.find(", " + name + " |") != std::string::npos;
    CHECK_MESSAGE(named, name);
  }
  CHECK(count == 17);
}
