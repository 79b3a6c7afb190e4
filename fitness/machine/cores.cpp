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

}  // namespace

core_plan plan_cores(int threads) {
  const auto cpus = allowed_cpus();
  const auto wanted = static_cast<std::size_t>(threads > 0 ? threads : 1);
  core_plan plan;
  plan.shared = cpus.size() < wanted + 1;
  plan.few = cpus.size() < wanted + 3;
  if (!plan.shared) plan.controller = cpus.front();
  const std::size_t count = std::min(wanted, cpus.size());
  plan.workers.assign(cpus.end() - static_cast<std::ptrdiff_t>(count), cpus.end());
  return plan;
}

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

int measuring_lock::open_file(const std::string& path) const {
  // Another user's file can still be locked through a read-only descriptor.
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    throw error(error_code::environment,
                "cannot open the lock file for measuring, " + path + ": " + std::strerror(errno));
  }
  ::fchmod(file, 0666);
  return file;
}

void measuring_lock::wait(int descriptor, const std::stop_token& stop) {
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (stop.stop_requested())
      throw error(error_code::interrupted, "stopped while waiting for exclusive use of the CPUs");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Two files: who waits holds the queue, and gives it back when it has the processors. Who has given the
// processors back and wants them again finds the queue taken.
measuring_lock::measuring_lock(const std::vector<int>& cpus, std::stop_token stop) {
  std::string path = "/tmp/kevo-measure";
  for (const int cpu : cpus) path += '-' + std::to_string(cpu);
  const auto start = std::chrono::steady_clock::now();
  const int queue = open_file(path + ".queue.lock");
  try {
    wait(queue, stop);
    descriptor_ = open_file(path + ".lock");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      char text[32] = {};
      if (::pread(descriptor_, text, sizeof text - 1, 0) > 0) holder_ = std::atoi(text);
      wait(descriptor_, stop);
    }
  } catch (...) {
    ::close(queue);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw;
  }
  ::close(queue);
  // For whoever waits; the lock does not depend on it.
  const std::string self = std::to_string(::getpid()) + '\n';
  if (::ftruncate(descriptor_, 0) == 0)
    static_cast<void>(::pwrite(descriptor_, self.data(), self.size(), 0) < 0);
  waited_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

measuring_lock::~measuring_lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
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
