#pragma once
// What a process holds of the memory and has waited for from files, as the kernel's books have it.

#include <optional>
#include <sys/types.h>

namespace kevo {

struct process_usage {
  long major_faults = 0;  ///< pages for which it waited until they had been read from a file
  double read_bytes = 0;  ///< read from devices; 0 where the kernel does not tell this process
};

/// Of all threads of a process together, since it began; nothing if there is no such process.
std::optional<process_usage> usage_of(pid_t process);

/// What it may write to, touched or not; 0 if there is no such process.
double writable_bytes_of(pid_t process);

}  // namespace kevo
