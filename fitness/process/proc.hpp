#pragma once
// What /proc says of processes. Linux only, as all of this folder.

#include <optional>
#include <sched.h>
#include <sys/types.h>
#include <vector>

namespace kevo::detail {

/// The fields of /proc/PID/stat that matter here.
struct process_stat {
  char state = '?';  ///< R, S, D, T (stopped), t (traced), Z, X
  pid_t parent = 0;
  pid_t session = 0;
  int threads = 0;
};

/// Reads an open stat file from its beginning; nothing if the process is gone. Allocates nothing.
std::optional<process_stat> read_stat(int fd) noexcept;
/// The same by process id.
std::optional<process_stat> stat_of(pid_t process) noexcept;

/// Whether every thread of the process stands still or has ended.
bool stands_still(pid_t process);

/// Children of all threads of a process.
std::vector<pid_t> children_of(pid_t process);

/// `root` and its descendants. `session` adds every process of root's session and its descendants (one scan
/// of /proc).
std::vector<pid_t> tree_of(pid_t root, bool session);

/// Stops a whole tree and returns when every process of it is confirmed to stand still.
/// @return false if that was not reached within `limit_s`
bool stop_tree(pid_t root, bool session, double limit_s);
/// Sends SIGCONT to the whole tree.
void continue_tree(pid_t root, bool session);
/// Whether every process of the tree stands still.
bool tree_stands_still(pid_t root, bool session);
/// The processors that a process may use; nothing if it is gone.
std::optional<cpu_set_t> processors_of(pid_t process);
/// Gives every thread of a tree that stands still these processors and this policy (SCHED_OTHER or
/// SCHED_IDLE). Processes that they start inherit both. @return false if the system refused it for one that
/// still exists
bool schedule_tree(pid_t root, bool session, const cpu_set_t& processors, int policy);
/// Sends SIGKILL to the whole tree, stopped first so that none can start another.
void kill_tree(pid_t root, bool session);

/// Tasks (threads) that run as this user, all over the machine.
int tasks_of_user(uid_t user);

}  // namespace kevo::detail
