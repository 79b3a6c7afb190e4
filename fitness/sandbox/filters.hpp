#pragma once
// System call filters, as programs that bubblewrap or a launcher loads into a process before it starts.

#include <string>

#include "fitness/process/process.hpp"

namespace kevo {

/// The compiled BPF program of a policy. Calls of another architecture end the process.
/// @throws kevo::error (environment) if libseccomp cannot make it
std::string compile_filter(syscall_policy policy);

/// The same in a sealed, close-on-exec memfd at offset 0, for `bwrap --seccomp`. The caller owns the
/// descriptor.
int filter_descriptor(syscall_policy policy);

}  // namespace kevo
