#pragma once
// Ends what the commands of a test started in the background, also where the test fails midway.

#include <chrono>
#include <csignal>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

#include "tests/support/descendants.hpp"

namespace kevo_test {

/// While it lives, processes whose parent has ended become children of this one (prctl(2),
/// PR_SET_CHILD_SUBREAPER). Its end asks all processes that began in its lifetime to end, kills after 5 s
/// those that have not, and takes their exit codes.
class ends_started {
 public:
  ends_started() : before_(descendant_ids()) { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
  ends_started(const ends_started&) = delete;
  ends_started& operator=(const ends_started&) = delete;
  ~ends_started() {
    const auto start = std::chrono::steady_clock::now();
    bool asked = false;
    for (auto left = started(); !left.empty(); left = started()) {
      const bool late = std::chrono::steady_clock::now() - start > std::chrono::seconds(5);
      for (const int id : left) {
        if (late || !asked) ::kill(id, late ? SIGKILL : SIGTERM);
        ::waitpid(id, nullptr, WNOHANG);  // of a child; the children of others become such
      }
      asked = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  }

 private:
  std::set<int> started() const {
    auto all = descendant_ids();
    for (const int one : before_) all.erase(one);
    return all;
  }
  std::set<int> before_;
};

}  // namespace kevo_test
