#include "fitness/process/proc.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <set>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "src/base/process/descriptor.hpp"

namespace kevo::detail {
namespace {

using clock = std::chrono::steady_clock;

std::vector<pid_t> numbers_in_folder(const std::string& path) {
  std::vector<pid_t> result;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return result;
  while (const dirent* entry = ::readdir(folder)) {
    pid_t id = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto [stop, code] = std::from_chars(entry->d_name, end, id);
    if (code == std::errc() && stop == end) result.push_back(id);
  }
  ::closedir(folder);
  return result;
}

std::string read_small_file(const std::string& path, bool& found) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  found = static_cast<bool>(file);
  std::string text;
  std::array<char, 4096> buffer{};
  while (file) {
    const ssize_t length = ::read(file.get(), buffer.data(), buffer.size());
    if (length <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return text;
}

// Kernels without /proc/PID/task/TID/children need one pass over all processes.
std::multimap<pid_t, pid_t> children_by_scan() {
  std::multimap<pid_t, pid_t> result;
  for (const pid_t process : numbers_in_folder("/proc")) {
    if (const auto stat = stat_of(process)) result.emplace(stat->parent, process);
  }
  return result;
}

}  // namespace

std::optional<process_stat> read_stat(int fd) noexcept {
  char buffer[1024];
  const ssize_t length = ::pread(fd, buffer, sizeof buffer - 1, 0);
  if (length <= 0) return std::nullopt;
  buffer[length] = '\0';
  // The name is in parentheses and may itself hold anything, so look from the end.
  const char* at = std::strrchr(buffer, ')');
  if (at == nullptr || at[1] == '\0') return std::nullopt;
  process_stat result;
  result.state = at[2];
  at += 3;
  const char* end = buffer + length;
  for (int field = 4; field <= 20 && at < end; ++field) {
    while (at < end && *at == ' ') ++at;
    if (field == 4) std::from_chars(at, end, result.parent);
    if (field == 6) std::from_chars(at, end, result.session);
    if (field == 20) std::from_chars(at, end, result.threads);
    while (at < end && *at != ' ') ++at;
  }
  return result;
}

std::optional<process_stat> stat_of(pid_t process) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  const descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  return read_stat(file.get());
}

bool stands_still(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process) + "/task/";
  for (const pid_t thread : numbers_in_folder(folder)) {
    const descriptor file(::open((folder + std::to_string(thread) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) continue;
    const auto stat = read_stat(file.get());
    if (stat && stat->state != 'T' && stat->state != 'Z' && stat->state != 'X') return false;
  }
  return true;
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> result;
  const std::string folder = "/proc/" + std::to_string(process) + "/task/";
  for (const pid_t thread : numbers_in_folder(folder)) {
    bool found = false;
    const std::string text = read_small_file(folder + std::to_string(thread) + "/children", found);
    if (!found) {
      if (!stat_of(process)) return result;
      for (const auto& [parent, child] : children_by_scan()) {
        if (parent == process) result.push_back(child);
      }
      return result;
    }
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end) {
      pid_t child = 0;
      const auto [stop, code] = std::from_chars(at, end, child);
      if (code == std::errc()) result.push_back(child);
      at = stop + 1;
    }
  }
  return result;
}

namespace {

// Visits the tree so that a process is looked at (and perhaps stopped) before its children are listed: one
// that stands still has no further children to miss.
template <class Visit>
void visit_tree(pid_t root, bool session, Visit visit) {
  std::set<pid_t> seen;
  std::vector<pid_t> open = {root};
  if (session) {
    for (const pid_t process : numbers_in_folder("/proc")) {
      const auto stat = stat_of(process);
      if (stat && stat->session == root) open.push_back(process);
    }
  }
  while (!open.empty()) {
    const pid_t process = open.back();
    open.pop_back();
    if (!seen.insert(process).second) continue;
    visit(process);
    for (const pid_t child : children_of(process)) open.push_back(child);
  }
}

}  // namespace

std::vector<pid_t> tree_of(pid_t root, bool session) {
  std::vector<pid_t> result;
  visit_tree(root, session, [&](pid_t process) { result.push_back(process); });
  return result;
}

bool tree_stands_still(pid_t root, bool session) {
  bool still = true;
  visit_tree(root, session, [&](pid_t process) { still = still && stands_still(process); });
  return still;
}

bool stop_tree(pid_t root, bool session, double limit_s) {
  const auto limit =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(limit_s));
  std::set<pid_t> last;
  for (int pass = 0;; ++pass) {
    std::set<pid_t> now;
    std::vector<pid_t> waiting;  // uninterruptible, perhaps for a child that shares its memory (vfork)
    bool still = true;
    visit_tree(root, session, [&](pid_t process) {
      now.insert(process);
      if (stands_still(process)) return;
      still = false;
      ::kill(process, SIGSTOP);
      const auto stat = stat_of(process);
      if (stat && stat->state == 'D') waiting.push_back(process);
    });
    // Twice the same set: a process that was reparented during a walk may have been missed by it.
    if (still && now == last) return true;
    last = still ? now : std::set<pid_t>();
    if (clock::now() > limit) return false;
    // A parent in vfork cannot stop before its child execs, and a stopped child never does: let such children
    // run a little further.
    if (pass > 3) {
      for (const pid_t process : waiting) {
        for (const pid_t child : children_of(process)) ::kill(child, SIGCONT);
      }
    }
    if (!still) std::this_thread::sleep_for(std::chrono::microseconds(pass < 4 ? 50 : 500));
  }
}

void continue_tree(pid_t root, bool session) {
  for (const pid_t process : tree_of(root, session)) ::kill(process, SIGCONT);
}

std::optional<cpu_set_t> processors_of(pid_t process) {
  cpu_set_t result;
  CPU_ZERO(&result);
  if (::sched_getaffinity(process, sizeof result, &result) != 0) return std::nullopt;
  return result;
}

bool schedule_tree(pid_t root, bool session, const cpu_set_t& processors, int policy) {
  bool done = true;
  const sched_param parameters = {};
  visit_tree(root, session, [&](pid_t process) {
    for (const pid_t thread : numbers_in_folder("/proc/" + std::to_string(process) + "/task")) {
      if (::sched_setscheduler(thread, policy, &parameters) == 0 &&
          ::sched_setaffinity(thread, sizeof processors, &processors) == 0)
        continue;
      if (errno != ESRCH) done = false;
    }
  });
  return done;
}

void kill_tree(pid_t root, bool session) {
  // Whoever is stopped cannot fork, so that the last pass finds all.
  stop_tree(root, session, 0.2);
  for (int pass = 0; pass < 3; ++pass) {
    for (const pid_t process : tree_of(root, session)) ::kill(process, SIGKILL);
  }
}

int tasks_of_user(uid_t user) {
  int count = 0;
  for (const pid_t process : numbers_in_folder("/proc")) {
    struct stat info = {};
    if (::stat(("/proc/" + std::to_string(process)).c_str(), &info) != 0 || info.st_uid != user) continue;
    if (const auto stat = stat_of(process)) count += stat->threads;
  }
  return count;
}

}  // namespace kevo::detail
