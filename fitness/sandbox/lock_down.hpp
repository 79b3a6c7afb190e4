#pragma once
// The filter that a worker puts on itself just before it loads a candidate. Linked into kevo-worker-cpu
// (needs libseccomp).

namespace kevo {

/// Leaves this process what computing needs: memory, futexes, reading files that are mounted, clocks, its own
/// exit. Everything else answers EPERM; what no honest kernel does (sockets, execve, fork, ptrace, signals to
/// others, mount, bpf, io_uring, memfd_create, opening a file for writing, ...) ends the process by SIGSYS.
/// Threads may be started only if `threads` > 1 (clone3 answers ENOSYS, so that the C library uses clone,
/// whose flags a filter can see). To be called while the process has one thread; cannot be undone.
/// @throws std::runtime_error if the kernel refuses the filter
void lock_down(int threads);

}  // namespace kevo
