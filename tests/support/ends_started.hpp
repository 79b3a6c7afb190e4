#pragma once
// Ends what the commands of a test started in the background, also where the test fails midway.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace kevo_test {

/// What /proc/ID/stat says of a process.
struct process_state {
  bool runs = false;  ///< false: it has ended (nobody may have waited for it yet), or is a kernel thread
  std::uint64_t start = 0;  ///< since the machine started. [clock ticks]
};

inline process_state state_of(int id) {
  constexpr unsigned kernel_thread = 0x00200000;  // PF_KTHREAD
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  if (!std::getline(file, text) || text.rfind(')') == std::string::npos) return {};
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  std::string word;
  process_state found{.runs = true};
  for (int field = 3; field <= 22 && rest >> word; ++field) {
    if (field == 3) found.runs = word != "Z" && word != "X";
    if (field == 9 && (std::stoul(word) & kernel_thread) != 0) found.runs = false;
    if (field == 22) found.start = std::stoull(word);
  }
  return found;
}

/// While it lives, this process hands a mark to all processes that it starts, in their environment. Its end
/// asks all processes with the mark to end, kills after 5 s those that have not, and waits until they have
/// ended. (Adopting them as a subreaper would keep those that have ended as zombies, which `kill -0` in a
/// page would take for running.)
class ends_started {
 public:
  ends_started() { ::setenv(name, mark_.c_str(), 1); }
  ends_started(const ends_started&) = delete;
  ends_started& operator=(const ends_started&) = delete;
  ~ends_started() {
    ::unsetenv(name);
    const auto start = std::chrono::steady_clock::now();
    std::set<int> asked;
    for (;;) {
      const bool all_known = find_started();
      std::erase_if(found_, [](const auto& one) {
        const auto now = state_of(one.first);
        return !now.runs || now.start != one.second;
      });
      const auto waited = std::chrono::steady_clock::now() - start;
      if (found_.empty() && (all_known || waited > std::chrono::milliseconds(200))) break;
      if (waited > std::chrono::seconds(20)) break;  // what cannot be killed
      const bool late = waited > std::chrono::seconds(5);
      for (const auto& one : found_) {
        if (late || asked.insert(one.first).second) ::kill(one.first, late ? SIGKILL : SIGTERM);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

 private:
  static constexpr const char* name = "KEVO_TEST_STARTED_BY";

  static std::string new_mark() {
    static int count = 0;
    return std::to_string(::getpid()) + '-' + std::to_string(++count);
  }
  static std::uint64_t ticks_now() {
    timespec now = {};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return static_cast<std::uint64_t>(now.tv_sec) * ticks +
           static_cast<std::uint64_t>(now.tv_nsec) * ticks / 1'000'000'000;
  }

  /// Adds the processes with the mark to `found_`. A process has no environment while it begins another
  /// program, and from the time when it gives its memory back until it has ended: one that was found before
  /// stays in `found_`.
  /// @return false if there is a process, begun since, that has no environment now
  bool find_started() {
    const std::string wanted = name + ('=' + mark_) + '\0';
    bool all_known = true;
    std::error_code ignored;
    for (const auto& folder : std::filesystem::directory_iterator("/proc", ignored)) {
      const int id = std::atoi(folder.path().filename().c_str());
      if (id == 0 || id == ::getpid() || found_.contains(id)) continue;
      std::ifstream file(folder.path() / "environ", std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      const auto state = state_of(id);
      if (text.str().find(wanted) != std::string::npos) {
        found_[id] = state.start;
      } else if (text.str().empty() && state.runs && state.start >= begun_) {
        all_known = false;
      }
    }
    return all_known;
  }

  std::string mark_ = new_mark();
  std::uint64_t begun_ = ticks_now();
  std::map<int, std::uint64_t> found_;  ///< processes with the mark, by id, and when they began
};

}  // namespace kevo_test
