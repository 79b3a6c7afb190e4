#pragma once
// Whether a test leaves processes behind.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>

namespace kevo_test {

/// Processes whose ancestor this one is.
inline std::size_t descendants() {
  std::map<int, int> parents;
  std::error_code ignored;
  for (const auto& folder : std::filesystem::directory_iterator("/proc", ignored)) {
    const int id = std::atoi(folder.path().filename().c_str());
    std::ifstream stat(folder.path() / "stat");
    std::string text;
    if (id == 0 || !std::getline(stat, text)) continue;
    std::istringstream rest(text.substr(text.rfind(')') + 1));
    std::string state;
    int parent = 0;
    if (rest >> state >> parent) parents[id] = parent;
  }
  std::size_t count = 0;
  for (const auto& [id, direct] : parents) {
    std::set<int> seen;
    for (int at = direct; at > 1 && seen.insert(at).second && parents.contains(at); at = parents[at]) {
      if (at == ::getpid()) {
        ++count;
        break;
      }
    }
  }
  return count;
}

}  // namespace kevo_test
