#pragma once
// Hardware counters of a process, opened from outside of it.

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "src/base/process/descriptor.hpp"

namespace kevo {

/// What one counter says.
struct counter_reading {
  std::string name;  ///< "cycles", "instructions", "branch misses", ...
  double count = 0;  ///< in user mode; where counters had to take turns, extrapolated from its turns
};

/// Counters of a process and of all that it starts, from the next program that it executes on. Only those
/// that the processor and the kernel offer; on many virtual machines there are none.
class hardware_counters {
 public:
  /// @param process one of ours, or one that this user may trace
  explicit hardware_counters(pid_t process);
  /// Why there are none; empty if there are some.
  const std::string& missing() const { return missing_; }
  std::vector<counter_reading> read() const;

 private:
  struct counter {
    const char* name;
    detail::descriptor file;
  };
  std::vector<counter> counters_;
  std::string missing_;
};

/// Tries to open one counter of this process: nothing if that works, else what is missing and what to do.
std::string missing_counters();

/// "2e+09 instructions, 1e+09 cycles (2 instructions per cycle), ...".
std::string describe(const std::vector<counter_reading>& readings);

}  // namespace kevo
