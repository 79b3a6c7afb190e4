#pragma once
// Limits and visible files of the processes of a candidate, for fitness functions that run them in a sandbox.

#include <cstdint>
#include <string>

namespace kevo {

/// The resources that a process may use. 0 means that there is no limit, unless a member says otherwise.
struct process_limits {
  double wall_s = 60;  ///< [s] wall time from the start; time while the process is paused does not count
  double cpu_s = 0;    ///< [s] processor time of each process, rounded up to whole seconds (RLIMIT_CPU)
  /// Address space of each process (RLIMIT_AS); must be 0 for programs built with AddressSanitizer.
  std::uint64_t memory_bytes = 0;
  std::uint64_t data_bytes = 0;  ///< private writable memory of each process (RLIMIT_DATA)
  /// Number of processes and threads of the process and its descendants together (RLIMIT_NPROC).
  int processes = 0;
  int open_files = 256;           ///< number of open files of each process (RLIMIT_NOFILE)
  std::uint64_t file_bytes = 0;   ///< size of each file that a process writes (RLIMIT_FSIZE)
  std::uint64_t stack_bytes = 0;  ///< stack of the main thread (RLIMIT_STACK); 0 keeps the inherited limit
  /// Size of standard output, and of standard error; a process that writes more is ended; 0 allows no output.
  std::uint64_t output_bytes = 1U << 20U;
  std::uint64_t scratch_bytes = 64U << 20U;  ///< size of the private /tmp inside a sandbox; 0 gives none
  /// Size of a private /dev/shm inside a sandbox; 0 gives none. POSIX semaphores need one, and therefore
  /// Python's process pools, too.
  std::uint64_t shared_memory_bytes = 0;
};

/// A file or folder of the host that is visible inside the sandbox. If the user of the sandbox has no access
/// to a read-only file on the host, the sandbox gets a copy of it. If that user has no access to a folder,
/// starting the sandbox throws kevo::error (environment).
struct mount {
  std::string host;       ///< absolute path on the host
  std::string inside;     ///< absolute path inside the sandbox
  bool writable = false;  ///< whether processes in the sandbox may write to it
  /// If the host has no such path, it is left out; otherwise a missing path is an error.
  bool optional = false;
};

/// How strict the sandbox is. `required`: nothing runs if a layer of the sandbox is not available. `best`:
/// the available layers are used. `off`: no sandbox; only the limits (process_limits) apply.
enum class sandbox_mode : std::uint8_t { required, best, off };

}  // namespace kevo
