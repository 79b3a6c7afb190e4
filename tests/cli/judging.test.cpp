// What docs/journal.md says of the results of `kevo rejudge`. tests/docs runs the commands of
// docs/judging.md.

#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "src/base/sqlite/sqlite.hpp"
#include "tests/support/shell.hpp"

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
