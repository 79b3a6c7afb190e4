#include "fitness/machine/cores.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <kevo/error.hpp>

#include "fitness/process/proc.hpp"

namespace kevo {
namespace {

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(::getpid(), sizeof set, &set) != 0) return {0};
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  }
  return cpus;
}

// In the order of their numbers, each once, so that no two processes wait for each other.
std::vector<std::string> names_of(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  std::vector<std::string> names;
  names.reserve(cpus.size());
  for (const int cpu : cpus) names.push_back(std::to_string(cpu));
  return names;
}

detail::descriptor open_lock_file(const std::string& path) {
  // Another user's file can still be locked through a read-only descriptor.
  detail::descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file) file = detail::descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    throw error(error_code::environment,
                "cannot open the lock file for measuring, " + path + ": " + std::strerror(errno), {},
                "check the permissions of this file and of its folder");
  }
  ::fchmod(file.get(), 0666);
  return file;
}

}  // namespace

pinned_thread::pinned_thread(int cpu) {
  if (cpu < 0) return;
  cpu_set_t before;
  if (::sched_getaffinity(0, sizeof before, &before) != 0) return;
  before_.resize(sizeof before / sizeof(unsigned long));
  std::memcpy(before_.data(), &before, sizeof before);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

pinned_thread::~pinned_thread() {
  if (before_.empty()) return;
  cpu_set_t set;
  std::memcpy(&set, before_.data(), sizeof set);
  ::sched_setaffinity(0, sizeof set, &set);
}

// Who holds the lock now. A wait for this process itself is its own affair.
void measuring_lock::look(const wait_listener& listener) {
  char text[32] = {};
  device_holder now;
  if (::pread(files_.back().get(), text, sizeof text - 1, 0) > 0) now.process = std::atoi(text);
  if (now.process == ::getpid()) return end_wait(listener);
  if (const auto stat = now.process > 0 ? detail::stat_of(now.process) : std::nullopt)
    now.stopped = stat->state == 'T';
  if (waits_since_ && waited_for_ && waited_for_->process == now.process &&
      waited_for_->stopped == now.stopped)
    return;
  now.command = command_of(now.process);
  if (!waits_since_) waits_since_ = std::chrono::steady_clock::now();
  waited_for_ = now;
  if (listener) listener(now);
}

void measuring_lock::end_wait(const wait_listener& listener) {
  if (!waits_since_) return;
  waited_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - *waits_since_).count();
  waits_since_.reset();
  if (listener) listener(std::nullopt);
}

void measuring_lock::wait(const detail::descriptor& file, const std::stop_token& stop,
                          const wait_listener& listener) {
  constexpr int tries_between_looks = 100;
  for (int tries = 0; ::flock(file.get(), LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (stop.stop_requested())
      throw error(error_code::interrupted, "stopped while waiting for another process that measures");
    if (tries % tries_between_looks == 0) look(listener);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Two files a device: who waits holds the queue, and gives it back when it has the device. Who has given the
// device back and wants it again finds the queue taken.
void measuring_lock::take(const std::string& name, const std::stop_token& stop,
                          const wait_listener& listener) {
  const std::string path = "/tmp/kevo-measure-" + name;
  const detail::descriptor queue = open_lock_file(path + ".queue.lock");
  files_.push_back(open_lock_file(path + ".lock"));
  wait(queue, stop, listener);
  wait(files_.back(), stop, listener);
  // For whoever waits; the lock does not depend on it.
  const std::string self = std::to_string(::getpid()) + '\n';
  const int file = files_.back().get();
  if (::ftruncate(file, 0) == 0) static_cast<void>(::pwrite(file, self.data(), self.size(), 0) < 0);
}

measuring_lock::measuring_lock(const std::vector<int>& cpus, const std::stop_token& stop,
                               const wait_listener& listener)
    : measuring_lock(names_of(cpus), stop, listener) {}

measuring_lock::measuring_lock(const std::vector<std::string>& names, const std::stop_token& stop,
                               const wait_listener& listener) {
  try {
    for (const std::string& name : names) take(name, stop, listener);
  } catch (...) {
    if (!files_.empty()) files_.pop_back();  // another process's number is in that one
    give_back();
    end_wait(listener);
    throw;
  }
  end_wait(listener);
}

measuring_lock::~measuring_lock() {
  give_back();
}

void measuring_lock::give_back() {
  for (const detail::descriptor& file : files_)
    static_cast<void>(::ftruncate(file.get(), 0) == 0);  // nobody is told of a process that has given it back
  files_.clear();
}

std::string command_of(int process) {
  constexpr std::size_t longest = 60;
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
  std::string text(4096, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  // The program's name without its folders.
  const auto end = std::min(text.find('\0'), text.size());
  if (const auto slash = text.rfind('/', end); slash != std::string::npos && slash < end)
    text.erase(0, slash + 1);
  for (char& c : text) {
    if (c == '\0') c = ' ';
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > longest) text.replace(longest - 3, std::string::npos, "...");
  return text;
}

std::string device_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0 && line.rfind("Model", 0) != 0) continue;
    if (const auto colon = line.find(": "); colon != std::string::npos) {
      name = line.substr(colon + 2);
      break;
    }
  }
  const auto count = allowed_cpus().size();
  return name + " (" + std::to_string(count) + (count == 1 ? " processor)" : " processors)");
}

}  // namespace kevo
