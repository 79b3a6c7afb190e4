#pragma once
// Ends what the commands of a test started in the background, also where the test fails midway.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace kevo_test {

/// While it lives, this process hands a mark to all processes that it starts, in their environment. Its end
/// asks all processes with the mark to end, and kills after 5 s those that have not. (Adopting them as a
/// subreaper would keep those that have ended as zombies, which `kill -0` in a page would take for running.)
class ends_started {
 public:
  ends_started() { ::setenv(name, mark_.c_str(), 1); }
  ends_started(const ends_started&) = delete;
  ends_started& operator=(const ends_started&) = delete;
  ~ends_started() {
    ::unsetenv(name);
    const auto start = std::chrono::steady_clock::now();
    bool asked = false;
    for (auto left = started(); !left.empty(); left = started()) {
      const auto waited = std::chrono::steady_clock::now() - start;
      if (waited > std::chrono::seconds(20)) break;  // what cannot be killed
      const bool late = waited > std::chrono::seconds(5);
      for (const int id : left) {
        if (late || !asked) ::kill(id, late ? SIGKILL : SIGTERM);
      }
      asked = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

 private:
  static constexpr const char* name = "KEVO_TEST_STARTED_BY";

  static std::string new_mark() {
    static int count = 0;
    return std::to_string(::getpid()) + '-' + std::to_string(++count);
  }
  /// A process that has ended and was not waited for has no environment.
  std::set<int> started() const {
    const std::string wanted = name + ('=' + mark_) + '\0';
    std::set<int> all;
    std::error_code ignored;
    for (const auto& folder : std::filesystem::directory_iterator("/proc", ignored)) {
      const int id = std::atoi(folder.path().filename().c_str());
      if (id == 0 || id == ::getpid()) continue;
      std::ifstream file(folder.path() / "environ", std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      if (text.str().find(wanted) != std::string::npos) all.insert(id);
    }
    return all;
  }
  std::string mark_ = new_mark();
};

}  // namespace kevo_test
