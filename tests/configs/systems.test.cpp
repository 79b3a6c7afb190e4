// Every config of a published system: short, complete, documented, and honest about what differs.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace fs = std::filesystem;

TEST_CASE("each system is one short config that says what differs, resolves, and is documented") {
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/systems.md");
  std::vector<fs::path> systems;
  for (const auto& file : fs::directory_iterator(KEVO_SOURCE_DIR "/configs/systems"))
    systems.push_back(file.path());
  CHECK(systems.size() >= 7);
  const shell::scratch folder;
  for (const auto& system : systems) {
    CAPTURE(system.string());
    const std::string text = shell::read_file(system);
    CHECK(std::count(text.begin(), text.end(), '\n') < 60);
    CHECK(text.find("# Differences from the ") != std::string::npos);
    CHECK(page.find("`configs/systems/" + system.filename().string() + "`") != std::string::npos);
    const auto printed = shell::run(shell::kevo({"run", system.string(), "--print-config"}), folder.string());
    CHECK_MESSAGE(printed.code == 0, printed.err);
    for (const char* section : {"task:", "fitness:", "llm:", "archive:", "select:", "vary:", "stop:"})
      CHECK_MESSAGE(printed.out.find(section) != std::string::npos, section);
  }
}

TEST_CASE("the page of systems names headers and configs that exist") {
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/systems.md");
  std::size_t links = 0;
  for (auto at = page.find("](../"); at != std::string::npos; at = page.find("](../", at + 1), ++links) {
    const std::string path = page.substr(at + 5, page.find(')', at) - at - 5);
    CHECK_MESSAGE(fs::exists(fs::path(KEVO_SOURCE_DIR) / path), path);
  }
  CHECK(links >= 20);
}
