#include "fitness/process/freezer.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/process/proc.hpp"

namespace kevo {
namespace {

int open_file(const std::string& path, int flags) {
  return ::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
}

bool stands_still(char state) {
  return state == 'T' || state == 'Z' || state == 'X';
}

}  // namespace

freezer::freezer(pid_t process) : process_(process) {
  const std::string id = std::to_string(process);
  handle_ = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  stat_ = open_file("/proc/" + id + "/task/" + id + "/stat", 0);
  tasks_ = open_file("/proc/" + id + "/task", O_DIRECTORY);
  if (handle_ < 0 || stat_ < 0 || tasks_ < 0) {
    const std::string reason = std::strerror(errno);
    for (const int fd : {handle_, stat_, tasks_}) {
      if (fd >= 0) ::close(fd);
    }
    throw error(error_code::environment, "cannot watch process " + id + ": " + reason);
  }
}

freezer::freezer(freezer&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      handle_(std::exchange(other.handle_, -1)),
      stat_(std::exchange(other.stat_, -1)),
      tasks_(std::exchange(other.tasks_, -1)) {}

freezer& freezer::operator=(freezer&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(handle_, other.handle_);
  std::swap(stat_, other.stat_);
  std::swap(tasks_, other.tasks_);
  return *this;
}

freezer::~freezer() {
  for (const int fd : {handle_, stat_, tasks_}) {
    if (fd >= 0) ::close(fd);
  }
}

bool freezer::freeze() noexcept {
  return syscall(SYS_pidfd_send_signal, handle_, SIGSTOP, nullptr, 0) == 0;
}
bool freezer::thaw() noexcept {
  return syscall(SYS_pidfd_send_signal, handle_, SIGCONT, nullptr, 0) == 0;
}
bool freezer::kill() noexcept {
  return syscall(SYS_pidfd_send_signal, handle_, SIGKILL, nullptr, 0) == 0;
}

bool freezer::ended() const noexcept {
  return await_end(std::chrono::milliseconds(0));
}

bool freezer::await_end(std::chrono::milliseconds limit) const noexcept {
  pollfd poll = {handle_, POLLIN, 0};
  return ::poll(&poll, 1, static_cast<int>(limit.count())) == 1;
}

bool freezer::frozen() const noexcept {
  const auto main = detail::read_stat(stat_);
  if (!main) return ended();
  if (main->threads <= 1) return stands_still(main->state);
  if (main->state != 'T' && main->state != 'Z') return false;
  // A thread enters the stop on its own; no new one can appear once all stand still, for each was seen
  // stopped after a listing in which it was (a thread that is created while others stop is created with the
  // stop pending).
  alignas(8) char buffer[4096];
  if (::lseek(tasks_, 0, SEEK_SET) < 0) return false;
  int seen = 0;
  for (;;) {
    const long length = syscall(SYS_getdents64, tasks_, buffer, sizeof buffer);
    if (length < 0) return ended();
    if (length == 0) break;
    for (long at = 0; at < length;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      char name[32];
      const std::size_t size = std::strlen(entry->d_name);
      if (size > 20) return false;
      std::memcpy(name, entry->d_name, size);
      std::memcpy(name + size, "/stat", 6);
      const int fd = ::openat(tasks_, name, O_RDONLY | O_CLOEXEC);
      if (fd < 0) continue;  // it ended
      const auto thread = detail::read_stat(fd);
      ::close(fd);
      if (!thread) continue;
      if (!stands_still(thread->state)) return false;
      ++seen;
    }
  }
  const auto after = detail::read_stat(stat_);
  return !after || seen >= after->threads;
}

int freezer::threads() const noexcept {
  const auto main = detail::read_stat(stat_);
  return main ? main->threads : 0;
}

bool freezer::freeze_and_confirm(std::chrono::nanoseconds limit) noexcept {
  if (!freeze()) return true;  // it has ended
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    if (frozen()) return true;
    const auto spent = std::chrono::steady_clock::now() - start;
    if (spent > limit) return false;
    // It stops within microseconds, or something else keeps the processor: then let that run.
    if (spent > std::chrono::microseconds(200)) {
      const timespec pause = {0, 20'000};
      ::nanosleep(&pause, nullptr);
    }
  }
}

}  // namespace kevo
