#pragma once
// Supervised processes: bounded in every resource, paused, and ended with all they started. `launch`
// (fitness/sandbox/sandbox.hpp) starts one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <kevo/fitness/sandbox.hpp>

#include "fitness/process/freezer.hpp"

namespace kevo {

/// Which system calls a process keeps. `worker` is what holds before it locks itself down (lock_down.hpp).
/// `device` is a worker that may make local sockets, without which CUDA does not start. `parent` is a process
/// of kevo's own that forks workers: it may fork, and use sockets that it was given. `forker` is a command of
/// kevo's own that forks workers, too, and gives each its own /tmp (own_files.hpp): it may mount inside.
enum class syscall_policy : std::uint8_t { builder, worker, command, device, parent, forker };

/// One step of showing a folder of the host part by part (see fitness/sandbox/open_folders.hpp).
struct folder_part {
  enum class kind : std::uint8_t {
    memory,  ///< a folder in memory that can be written to
    names,   ///< a folder in memory that is to hold other parts alone
    host,    ///< a file or folder of the host under its own path, read-only
    link,    ///< a symbolic link
    sealed,  ///< from now on this folder in memory is read-only
  };
  kind what = kind::host;
  std::string path;         ///< absolute
  std::string target;       ///< of a link
  std::uint64_t bytes = 0;  ///< size of `memory`
};

/// What to start.
struct launch_spec {
  /// argv[0] is a path as seen inside. Outside of a sandbox (see `contains`) arguments that begin with the
  /// inside path of a mount are translated to the host's.
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< "NAME=value"; nothing else is inherited
  std::string directory = "/";           ///< working directory, as seen inside
  std::vector<mount> mounts;             ///< all that is seen of the host, besides /dev/null, zero, urandom
  /// Inside a sandbox, these come after the mounts and in this order. They are meant for a folder that is
  /// mounted under its own path, and hide that mount.
  std::vector<folder_part> parts;
  /// Device nodes of the host that are seen inside, besides /dev/null, zero, urandom ("/dev/nvidia0").
  std::vector<std::string> devices;
  /// A /proc that shows its own processes alone is seen inside: CUDA does not start without.
  bool own_proc = false;
  /// /dev also holds random, full, fd, stdin, stdout and stderr, which scripts and tools expect. With
  /// `own_proc` alone: some of them are links into /proc.
  bool usual_devices = false;
  /// Folders and files below a mount that are seen as empty; those that the host has not are ignored.
  std::vector<std::string> hidden;
  std::vector<std::pair<int, int>> file_descriptors;  ///< (ours, theirs); theirs >= 3; all others are closed
  process_limits limits;
  sandbox_mode sandbox = sandbox_mode::required;
  syscall_policy policy = syscall_policy::builder;
  std::vector<int> cpus;  ///< processors it may run on; empty: any
  /// The kernel does not draw the addresses of program, libraries and stack (personality(2)), where that can
  /// be chosen; see `addresses_can_be_fixed`.
  bool fixed_addresses = false;
  std::string standard_input;  ///< what it reads from standard input
};

enum class exit_kind : std::uint8_t {
  exited,           ///< by itself; `code` says how
  signalled,        ///< by `signal`; SIGSYS means that the system call filter ended it
  timed_out,        ///< wall or processor limit
  output_exceeded,  ///< wrote more than limits.output_bytes
  cancelled,        ///< by the stop token, kill() or the destructor
  not_started,      ///< the sandbox could not be set up or argv[0] not run; `err` says why. A fault of the
                    ///< machine
};

/// "exited", "signalled", ...
std::string_view to_string(exit_kind kind);

/// How a process ended. Inside a sandbox an exit code above 128 counts as a signal (code - 128): bubblewrap
/// reports both alike.
struct exit_report {
  exit_kind kind = exit_kind::not_started;
  int code = 0;
  int signal = 0;
  std::string out;            ///< what it wrote to standard output, up to limits.output_bytes
  std::string err;            ///< what it wrote to standard error, up to limits.output_bytes
  double wall_s = 0;          ///< [s] real time, paused time excluded
  double cpu_s = 0;           ///< [s] user and system time of all that was waited for
  std::uint64_t max_rss = 0;  ///< largest resident set of one process of the tree [bytes]; 0 if unknown
  bool ok() const { return kind == exit_kind::exited && code == 0; }
};

/// One sentence: "ended with exit code 3", "was ended by signal 11 (Segmentation fault)", ...
std::string describe(const exit_report& report);

namespace detail {
struct process_state;
}

/// A running process and all its descendants. Output is read and limits are kept by a thread of the library,
/// whether anybody waits or not. Move-only; the destructor ends the whole tree and returns once it is gone.
/// Member functions may be called from several threads.
class child_process {
 public:
  child_process() = default;
  explicit child_process(std::shared_ptr<detail::process_state> state) : state_(std::move(state)) {}
  child_process(child_process&&) noexcept = default;
  child_process& operator=(child_process&& other) noexcept;
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process();

  explicit operator bool() const { return state_ != nullptr; }
  /// Process id of the monitor: bubblewrap's, or the process itself where there is no sandbox.
  pid_t pid() const;
  /// The host's process id of the process that runs argv[0] itself.
  pid_t inner_pid() const;
  /// Whether it runs in its own namespaces.
  bool contained() const;

  /// Stops and confirms one process fast: the inner one alone. For a process that cannot fork.
  freezer inner_freezer() const;

  /// Stops every process of the tree and returns when all are confirmed to stand still. The wall limit stands
  /// still, too. Calls nest: as many resumes as pauses.
  /// @throws kevo::error (environment) if the tree cannot be stopped within two seconds
  void pause();
  /// Lets the tree run on processor `cpu` alone, and there only while nobody else wants it. It counts as a
  /// pause that `resume` ends: the wall limit stands still. Where the system refuses it, the tree is paused.
  /// @throws kevo::error (environment) as `pause`
  void stand_back(int cpu);
  /// Whether every process of the tree stands still (or has ended).
  bool confirmed_paused() const;
  void resume();

  /// Ends the whole tree (SIGKILL). Returns at once; `wait` says when it is gone.
  void kill();
  /// Waits for the end; `stop` kills the tree. May be called again and gives the same report.
  exit_report wait(std::stop_token stop = {});
  /// The report if it has ended.
  std::optional<exit_report> try_wait() const;

 private:
  std::shared_ptr<detail::process_state> state_;
};

}  // namespace kevo
