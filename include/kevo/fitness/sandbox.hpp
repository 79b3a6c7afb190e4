#pragma once
// What a fitness function lets the processes of a candidate see and use.

#include <cstdint>
#include <string>

namespace kevo {

/// What a process may use. Zero means "no limit" unless said otherwise.
struct process_limits {
  double wall_s = 60;              ///< [s] real time from the start; paused time does not count
  double cpu_s = 0;                ///< [s] processor time of each process, rounded up to whole seconds
  std::uint64_t memory_bytes = 0;  ///< address space of each process (RLIMIT_AS); leave 0 for ASan builds
  std::uint64_t data_bytes = 0;    ///< private writable memory of each process (RLIMIT_DATA)
  int processes = 0;               ///< processes and threads of the whole tree together (RLIMIT_NPROC)
  int open_files = 256;            ///< RLIMIT_NOFILE
  std::uint64_t file_bytes = 0;    ///< size of each file it writes (RLIMIT_FSIZE)
  std::uint64_t stack_bytes = 0;   ///< main thread's stack (RLIMIT_STACK); 0 keeps the inherited one
  std::uint64_t output_bytes =
      1U << 20U;  ///< each of stdout and stderr; more ends the process; never unlimited
  std::uint64_t scratch_bytes = 64U << 20U;  ///< size of the private /tmp inside a sandbox; 0 gives none
  /// Size of a private /dev/shm inside a sandbox; 0 gives none. Semaphores, and with them Python's process
  /// pools, need one.
  std::uint64_t shared_memory_bytes = 0;
};

/// A file or folder of the host that is seen inside the sandbox. A read-only file that the sandbox's user may
/// not reach on the host is handed over as a copy; such a folder is an error (environment).
struct mount {
  std::string host;    ///< absolute
  std::string inside;  ///< absolute
  bool writable = false;
  bool optional = false;  ///< left out without complaint if the host has no such path
};

/// required: refuse if a layer of the sandbox is missing; best: do with what is there; off: limits only.
enum class sandbox_mode : std::uint8_t { required, best, off };

}  // namespace kevo
