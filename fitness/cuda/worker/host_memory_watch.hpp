#pragma once
// Ends a process that takes more of the host's memory than it may by ways that the kernel does not limit:
// memory that is shared, though with nobody, and memory that a driver pins for it. Private memory has its own
// limit (fitness/sandbox/limit_memory.hpp).

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <sys/types.h>
#include <thread>

#include "src/base/process/descriptor.hpp"

namespace kevo {

/// Memory of a process that is shared and lies in no file, such as mmap(MAP_SHARED | MAP_ANONYMOUS). [bytes]
/// Nothing if the process is gone or /proc does not say.
std::optional<std::uint64_t> shared_memory_of(pid_t process);

/// Looks 20 times a second, on a thread of its own, for as long as it lives. The process may so overshoot by
/// what it touches in 50 ms.
class host_memory_watch {
 public:
  /// @param bytes of shared memory that the process may have. What a driver pins shows nowhere with the
  /// process: it is also ended once the host has lost so much and is left with less than an eighth of its
  /// memory.
  host_memory_watch(pid_t process, std::uint64_t bytes);
  host_memory_watch(const host_memory_watch&) = delete;
  host_memory_watch& operator=(const host_memory_watch&) = delete;
  ~host_memory_watch();

  /// Whether it has ended the process.
  bool tripped() const { return tripped_.load(); }

 private:
  void watch();
  bool too_much() const;

  pid_t process_;
  detail::descriptor handle_;  // a number may be another process's by the time that it is ended
  std::uint64_t bytes_;
  std::optional<std::uint64_t> at_first_;  // available on the host
  std::optional<std::uint64_t> total_;     // of the host
  std::atomic<bool> tripped_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace kevo
