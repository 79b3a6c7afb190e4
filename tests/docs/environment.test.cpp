// docs/install.md names every environment variable of kevo that the sources read, and every helper program
// that is installed.

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"

namespace {

namespace fs = std::filesystem;

/// Adds what the pattern's group matches in a text.
void add_names(const std::string& text, const std::regex& pattern, std::set<std::string>& names) {
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    names.insert((*it)[1]);
}

std::set<std::string> variables_of_sources() {
  static const std::regex variable(R"re("(KEVO_[A-Z_]*[A-Z])")re");
  std::set<std::string> names;
  for (const char* folder : {"src", "fitness", "operators"}) {
    for (const auto& file : fs::recursive_directory_iterator(fs::path(KEVO_SOURCE_DIR) / folder)) {
      const auto extension = file.path().extension();
      if (extension == ".cpp" || extension == ".hpp")
        add_names(shell::read_file(file.path()), variable, names);
    }
  }
  // fitness/cuda/tools/tool.cpp makes these from the names of the tools.
  names.insert({"KEVO_COMPUTE_SANITIZER", "KEVO_NCU"});
  return names;
}

}  // namespace

TEST_CASE("the page on installation names every environment variable of kevo") {
  const auto names = variables_of_sources();
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/install.md");
  CHECK(names.size() >= 14);
  for (const auto& name : names) CHECK_MESSAGE(has(page, "`" + name + "`"), name);
}

TEST_CASE("the page on installation names every helper program that is installed") {
  static const std::regex program(R"re(\b(kevo-(?:worker|device|compile|replay|parse)[-a-z]*)\b)re");
  std::set<std::string> names;
  add_names(shell::read_file(KEVO_SOURCE_DIR "/cmake/install.cmake"), program, names);
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/install.md");
  CHECK(names.size() >= 8);
  for (const auto& name : names)
    CHECK_MESSAGE((has(page, "`" + name + "`") || has(page, "`" + name + ".so`")), name);
}
