#pragma once
// What ends the processes of a controller that was killed, also those that were only being set up.

#include <sys/types.h>

#include "src/base/process/descriptor.hpp"

namespace kevo::detail {

/// Starts a process beside this one (`/bin/sh`, in a session of its own, not a child) that keeps a list of
/// process groups. Once the other end of its pipe is closed, because this process has ended for whatever
/// reason, it kills the groups (SIGKILL) and ends. PR_SET_PDEATHSIG alone is too late for some: bubblewrap's
/// child sets it last, and waits for ever if bubblewrap is killed before it has let the child go on.
/// @return the end to write to; none if the process cannot be started. It must be closed on exec and not be
/// inherited by processes that this one forks and that are to outlive it.
descriptor start_group_keeper();

/// Takes a process group from the list. To be called before its leader is waited for: after that, the number
/// may be another group's. Thread-safe.
void forget_group(int keeper, pid_t leader);

}  // namespace kevo::detail
