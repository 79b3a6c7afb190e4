#pragma once
// The filters that workers put on themselves just before they load a candidate. Linked into kevo-worker-cpu
// and kevo-worker-hosted (needs libseccomp).

#include <linux/filter.h>
#include <vector>

namespace kevo {

/// Leaves this process what computing needs: memory, futexes, reading files that are mounted, clocks, its own
/// exit. Everything else is refused: with EPERM as a rule, with EACCES where files would be written or
/// changed, events counted or a local socket made, with ENOSYS for memory files. What no honest kernel does
/// (other sockets, execve, fork, ptrace, signals to others, mount, bpf, io_uring, shared memory of System V,
/// ...) ends the process by SIGSYS. Threads may be started only if `threads` > 1 (clone3 answers ENOSYS, so
/// that the C library uses clone, whose flags a filter can see). To be called while the process has one
/// thread; cannot be undone. `error_output`: the process may write to standard error (descriptor 2) alone, so
/// that a trusted program can say why it fails. `written`: a further descriptor that it may write, a socket
/// through which it asks for something; -1: none.
/// @throws std::runtime_error if the kernel refuses the filter
void lock_down(int threads, bool error_output = false, int written = -1);

/// The same for a process that has a /tmp of its own (own_files.hpp) and can write nowhere else: it may also
/// make, write, rename and remove files and folders. Links, locks, and changes of owners and times stay
/// refused.
/// @throws std::runtime_error if the kernel refuses the filter
void lock_down_with_files(int threads);

/// The filter of `lock_down`, made ahead by a process that forks: making it takes longer than setting it.
class prepared_lock_down {
 public:
  /// @throws std::runtime_error if libseccomp cannot make the filter
  explicit prepared_lock_down(int threads, bool error_output = false);
  /// What `lock_down` does, for the calling process, which may be a child of the one that made this.
  /// @throws std::runtime_error if the kernel refuses the filter
  void set() const;

 private:
  std::vector<sock_filter> instructions_;
};

/// The same for a process that has a CUDA context, all its threads included. Which calls a driver makes is
/// not kevo's to know, so that those which it may need stay (ioctl, mmap, poll, opening device nodes, ...):
/// the filter with which the process was started holds on, the mounts decide what can be opened, and what
/// neither a driver nor an honest program does (execve, fork, ptrace, signals to others, other processes'
/// memory, mount, bpf, io_uring, ...) ends the process by SIGSYS. New threads are denied (EAGAIN), sockets,
/// memory files, changes of folders, and opening device memory of other processes (CUDA IPC) answer EPERM.
/// Cannot be undone. `files`: the process has a /tmp of its own (own_files.hpp), and may change files.
/// @throws std::runtime_error if the kernel refuses the filter
void lock_down_with_driver(bool files = false);

}  // namespace kevo
