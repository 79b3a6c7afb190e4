// Every link of the documentation to a file of the source tree leads to a file, and to a heading that is in
// it.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace {

namespace fs = std::filesystem;

/// The name by which links refer to a heading: lower case, blanks as -, other punctuation left out.
std::string anchor_of(const std::string& heading) {
  std::string name;
  for (const char c : heading) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || c == '_' || c == '-') name += static_cast<char>(std::tolower(u));
    if (c == ' ') name += '-';
  }
  return name;
}

std::set<std::string> anchors_of(const std::string& markdown) {
  std::set<std::string> all;
  std::istringstream in(markdown);
  bool code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) code = !code;
    const auto text = line.find_first_not_of('#');
    if (!code && text != 0 && text != std::string::npos && line[text] == ' ') {
      all.insert(anchor_of(line.substr(text + 1)));
    }
  }
  return all;
}

/// The links of a page that lead nowhere.
std::vector<std::string> broken_links(const std::string& markdown, const fs::path& folder,
                                      const fs::path& self) {
  static const std::regex link(R"(\]\(([^)#\s]*)(#[^)\s]*)?\))");
  std::vector<std::string> broken;
  for (std::sregex_iterator it(markdown.begin(), markdown.end(), link), end; it != end; ++it) {
    const std::string path = (*it)[1];
    const std::string anchor = (*it)[2];
    if (path.find("://") != std::string::npos) continue;
    const fs::path target = path.empty() ? self : folder / path;
    if (!fs::exists(target)) {
      broken.push_back((*it)[0]);
    } else if (!anchor.empty() && !anchors_of(shell::read_file(target)).contains(anchor.substr(1))) {
      broken.push_back((*it)[0]);
    }
  }
  return broken;
}

}  // namespace

TEST_CASE("links of the documentation lead somewhere") {
  std::vector<fs::path> pages;
  for (const char* name : {"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"})
    pages.push_back(fs::path(KEVO_SOURCE_DIR) / name);
  for (const auto& file : fs::recursive_directory_iterator(KEVO_SOURCE_DIR "/docs")) {
    if (file.path().extension() == ".md") pages.push_back(file.path());
  }
  CHECK(pages.size() > 20);
  for (const auto& path : pages) {
    for (const auto& link : broken_links(shell::read_file(path), path.parent_path(), path)) {
      FAIL_CHECK(path.string() << ": " << link);
    }
  }
}

TEST_CASE("a link to a file or a heading that is missing is found") {
  const shell::scratch folder;
  shell::write_file(folder / "a.md", "# One\n\n## What it costs, and why\n");
  const auto broken = [&](const std::string& text) {
    return broken_links(text, folder.string(), folder / "a.md").size();
  };
  CHECK(broken("[a](a.md) [a](a.md#what-it-costs-and-why) [b](#one) [c](https://example.com/x)") == 0);
  CHECK(broken("[a](b.md)") == 1);
  CHECK(broken("[a](a.md#two)") == 1);
  CHECK(broken("[a](#two)") == 1);
}
