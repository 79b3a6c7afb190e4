#pragma once
// Where a process waits for its next call. A worker whose calls are served by kevo's own code in the process
// of the candidate (Python) waits at one place of that code, called from the same places each time, as
// trusted processes that the same parent has forked do. A program that serves its calls itself, to save what
// that code adds to them, waits elsewhere.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace kevo {

/// A process that sleeps in a system call.
struct call_chain {
  std::uint64_t place = 0;  ///< of the instruction behind the system call
  std::uint64_t stack = 0;  ///< stack pointer
  /// Where on the stack return addresses into the code that serves calls are: distances from `stack` in
  /// words.
  std::vector<std::size_t> returns;
  /// That code: first address, and the one behind the last.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> code;
};

/// What trusted processes show. Thread-safe.
class known_chain {
 public:
  /// @param library file name of the code that serves calls
  explicit known_chain(std::string library) : library_(std::move(library)) {}

  /// Learns from a trusted process that sleeps. What two of them have in common is known.
  void learn(pid_t process);
  /// Nothing is known from now on: the parent has ended, and another one has other addresses.
  void retire();
  /// Whether a process sleeps elsewhere. False if it does not sleep, or nothing is known.
  bool is_elsewhere(pid_t process);

 private:
  std::mutex mutex_;
  std::string library_;
  std::optional<call_chain> chain_;
  pid_t first_ = 0;
  bool known_ = false;
  bool retired_ = false;
};

}  // namespace kevo
