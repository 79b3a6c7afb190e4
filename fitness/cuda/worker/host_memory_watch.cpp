#include "fitness/cuda/worker/host_memory_watch.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include "fitness/machine/available_memory.hpp"

namespace kevo {
namespace {

constexpr auto period = std::chrono::milliseconds(50);
constexpr std::uint64_t least_share = 8;  // one of so many parts of the host's memory stays available

std::optional<std::uint64_t> memory_of_host() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || bytes <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
}

}  // namespace

std::optional<std::uint64_t> shared_memory_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  constexpr std::string_view key = "RssShmem:";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    return std::uint64_t{1024} * std::strtoull(line.c_str() + key.size(), nullptr, 10);
  }
  return std::nullopt;
}

host_memory_watch::host_memory_watch(pid_t process, std::uint64_t bytes)
    : process_(process),
      handle_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))),
      bytes_(bytes),
      at_first_(available_memory()),
      total_(memory_of_host()),
      thread_([this] { watch(); }) {}

host_memory_watch::~host_memory_watch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

bool host_memory_watch::too_much() const {
  if (const auto shared = shared_memory_of(process_); shared && *shared > bytes_) return true;
  if (!at_first_ || !total_) return false;
  const auto now = available_memory();
  return now && *now < *total_ / least_share && *now<*at_first_&& * at_first_ - *now> bytes_;
}

void host_memory_watch::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, period, [this] { return over_; })) {
    if (!too_much()) continue;
    tripped_ = true;
    if (handle_) ::syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0);
    return;
  }
}

}  // namespace kevo
