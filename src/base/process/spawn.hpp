#pragma once
// The step from a plan to a process: clone and exec with everything prepared beforehand.

#include <cstdint>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "src/base/process/descriptor.hpp"

namespace kevo::detail {

/// One rlimit.
struct resource_limit {
  int resource = 0;
  rlim_t soft = RLIM_INFINITY;
  rlim_t hard = RLIM_INFINITY;
};

/// All that a new process needs. The strings stay the caller's until `spawn` has returned.
struct spawn_plan {
  std::vector<std::string> argv;  ///< argv[0] is an absolute path
  std::vector<std::string> environment;
  std::string directory;  ///< empty: the caller's
  int input = -1;         ///< these three become 0, 1 and 2
  int output = -1;
  int errors = -1;
  std::vector<std::pair<int, int>> descriptors;  ///< (ours, theirs)
  std::vector<resource_limit> limits;
  std::vector<int> cpus;
  bool drop_root = false;        ///< become nobody (65534) first
  bool fixed_addresses = false;  ///< no address space layout randomization, where that can be chosen
  bool adopt = false;            ///< orphans of its tree become its children, so that they can be found
  bool outlives = false;         ///< it does not end with this process
  int keeper = -1;               ///< where it reports its process group (group_keeper.hpp)
  std::string filter;            ///< BPF program for seccomp; empty: none
};

/// The process id and a pidfd.
struct spawned {
  pid_t pid = -1;
  descriptor handle;
};

/// Starts it in a session of its own, killed when the *thread* that calls this ends (PR_SET_PDEATHSIG follows
/// threads): only the supervisor's permanent thread calls it, except for a process that outlives it.
/// @throws kevo::error (environment) naming the step that failed
spawned spawn(const spawn_plan& plan);

/// Where a parent ignores SIGCHLD, how its processes ended is lost, and waits for one last until all have
/// ended.
/// @throws kevo::error (environment) if this process does so
void require_ends();

/// Sets limits of another process. @param as_nobody with the rights of the sandbox's user, who owns its user
/// namespace: a root without CAP_SYS_RESOURCE (as in many containers) may not do it otherwise.
/// @return 0 or an errno
int limit_process(pid_t process, const std::vector<resource_limit>& limits, bool as_nobody);

/// The user to whom root drops.
inline constexpr uid_t sandbox_uid = 65534;

}  // namespace kevo::detail
