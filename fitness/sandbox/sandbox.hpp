#pragma once
// Starting a process in the sandbox: which layers this machine offers, which a mode would use, and what is
// mounted.

#include <stop_token>
#include <string>
#include <vector>

#include "fitness/process/process.hpp"

namespace kevo {

/// Starts a process. With a sandbox this returns just after the process was released into its first
/// instruction.
/// @param held called, if given, with `context` and the id of a process in a sandbox of its own before it
/// runs argv[0]
/// @throws kevo::error (environment) if the sandbox or the process cannot be set up
child_process launch(const launch_spec& spec, void (*held)(pid_t inner, void* context) = nullptr,
                     void* context = nullptr);

/// `launch` and `wait`.
exit_report run(const launch_spec& spec, std::stop_token stop = {});

/// One layer, found by trying it.
struct sandbox_layer {
  std::string name;  ///< "bubblewrap", "user namespace", "pid namespace", "network", "seccomp", ...
  bool in_force = false;
  bool required = false;  ///< sandbox_mode::required refuses without it
  std::string detail;     ///< version or how it holds; why not, and what to do, if it is missing
};

/// Tries every layer by starting a process and looking at it from outside. Takes some 20 ms; the first result
/// is kept for the life of this process (thread-safe).
const std::vector<sandbox_layer>& probe_sandbox();

/// Tries again, for tests and `kevo doctor`.
std::vector<sandbox_layer> probe_sandbox_again();

/// Whether `launch` puts a process into namespaces of its own in this mode on this machine. False means that
/// the paths of mounts are the host's.
/// @throws kevo::error (environment) naming what is missing, if the mode is `required` and a required layer
/// is
bool contains(sandbox_mode mode);

/// Whether `launch_spec::fixed_addresses` has an effect in this mode on this machine. The filters of some
/// containers do not allow it, and a bubblewrap with the set-user-ID bit loses it.
bool addresses_can_be_fixed(sandbox_mode mode);

/// "bubblewrap 0.8.0, user namespace, ..., without cgroup": one line for `evaluation::context`.
std::string describe_layers(sandbox_mode mode);

/// What a built object needs at run time, read-only: the loader and exactly these libraries (names like
/// "libm.so.6"), found where the host's loader looks. Libraries that are not named do not exist inside.
std::vector<mount> runtime_mounts(const std::vector<std::string>& libraries);
/// The C and C++ libraries and libgomp.
std::vector<mount> runtime_mounts();

/// What a compiler needs, read-only: binaries, headers and libraries of its prefix and of /usr, and neither
/// /usr/share nor /usr/local, where other people's files may lie.
std::vector<mount> toolchain_mounts(const std::string& compiler);

}  // namespace kevo
