#pragma once
// Starting kevo-worker-cuda or kevo-worker-hosted in the sandbox, or a process that another one forks. Needs
// no CUDA.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/cuda/worker/host_memory_watch.hpp"
#include "fitness/process/forked_process.hpp"
#include "fitness/process/process.hpp"
#include "fitness/worker/shared_memory.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo::cuda {

/// How a worker is started.
struct worker_options {
  std::string program;  ///< path of the worker; empty: found
  sandbox_mode sandbox = sandbox_mode::required;
  double wall_s = 0;     ///< [s] of the whole process; 0: no limit
  bool hosted = false;   ///< kevo-worker-hosted: the program brings its own host code
  bool trusted = false;  ///< hosted: it may start threads, write /tmp and load what lies in `folders`
  std::uint64_t memory_bytes = 0;    ///< hosted, not trusted: of the host's memory, besides its context
  std::vector<std::string> folders;  ///< of libraries that a trusted hosted program needs
  /// Starts the process instead, with copies of these descriptors (region, arena): programs in Python.
  std::function<forked_process(int region, int arena, std::uint64_t arena_bytes)> fork;
};

/// How CUDA_VISIBLE_DEVICES names a device: a runtime takes the first that it sees. @param uuid 32 digits
std::string visible_name(const std::string& uuid);

/// A worker process with its shared region. It rests until `begin`: its process is set up, and it has not
/// touched the device. (One that another process has forked begins at once.) Move-only; the destructor ends
/// the process and waits until it is gone, so that its context no longer maps the arena.
class worker_process {
 public:
  /// @param arena descriptor of the arena's memory; @throws kevo::error (environment)
  worker_process(const worker_options& options, const device_description& device, int arena,
                 std::uint64_t arena_bytes);

  int region() const { return region_.descriptor(); }
  int handle() const { return handle_.get(); }  ///< pidfd
  /// Lets it make its context.
  void begin();
  /// Whether it says that it has a context and serves.
  bool ready() const;
  void kill();
  /// Whether it was ended for the host's memory that it shares or pins.
  bool took_too_much() const { return watch_ && watch_->tripped(); }
  /// How it ended, where it did.
  std::optional<exit_report> report();

 private:
  shared_memory region_;
  std::variant<child_process, forked_process> process_;
  detail::descriptor handle_;
  std::uint64_t watched_bytes_ = 0;           // 0: of no concern
  std::unique_ptr<host_memory_watch> watch_;  // of a hosted program that is not trusted
};

}  // namespace kevo::cuda
