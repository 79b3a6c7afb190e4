#include "fitness/sandbox/lock_down.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <iterator>
#include <linux/seccomp.h>
#include <memory>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <seccomp.h>

namespace kevo {
namespace {

struct release {
  void operator()(void* context) const { seccomp_release(context); }
};

void check(int result, const char* what) {
  if (result == 0) return;
  throw std::runtime_error(std::string("cannot restrict the worker process: ") + what + ": " +
                           std::strerror(-result));
}

void rule(void* context, std::uint32_t action, const char* name,
          std::initializer_list<scmp_arg_cmp> conditions = {}) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR || number < 0) return;
  check(seccomp_rule_add_array(context, action, number, static_cast<unsigned>(conditions.size()),
                               conditions.begin()),
        name);
}

constexpr const char* computing[] = {"mmap",
                                     "munmap",
                                     "mprotect",
                                     "mremap",
                                     "brk",
                                     "futex",
                                     "membarrier",
                                     "rseq",
                                     "set_robust_list",
                                     "set_tid_address",
                                     "read",
                                     "readv",
                                     "pread64",
                                     "preadv",
                                     "fstat",
                                     "newfstatat",
                                     "stat",
                                     "lstat",
                                     "statx",
                                     "lseek",
                                     "close",
                                     "access",
                                     "faccessat",
                                     "faccessat2",
                                     "readlink",
                                     "readlinkat",
                                     "getcwd",
                                     "getdents64",
                                     "clock_gettime",
                                     "clock_getres",
                                     "clock_nanosleep",
                                     "nanosleep",
                                     "gettimeofday",
                                     "time",
                                     "times",
                                     "getrusage",
                                     "sched_yield",
                                     "sched_getaffinity",
                                     "sched_getparam",
                                     "sched_getscheduler",
                                     "sched_get_priority_max",
                                     "sched_get_priority_min",
                                     "getcpu",
                                     "rt_sigreturn",
                                     "rt_sigprocmask",
                                     "rt_sigaction",
                                     "sigaltstack",
                                     "restart_syscall",
                                     "exit",
                                     "exit_group",
                                     "getpid",
                                     "gettid",
                                     "getppid",
                                     "getuid",
                                     "geteuid",
                                     "getgid",
                                     "getegid",
                                     "getrandom",
                                     "uname",
                                     "sysinfo",
                                     "getrlimit",
                                     "get_mempolicy"};

// No honest kernel does any of these by accident: the process ends, and the verdict can say why.
constexpr const char* flagrant[] = {"socket",
                                    "socketpair",
                                    "connect",
                                    "bind",
                                    "listen",
                                    "accept",
                                    "accept4",
                                    "sendto",
                                    "recvfrom",
                                    "sendmsg",
                                    "recvmsg",
                                    "sendmmsg",
                                    "recvmmsg",
                                    "execve",
                                    "execveat",
                                    "fork",
                                    "vfork",
                                    "ptrace",
                                    "process_vm_readv",
                                    "process_vm_writev",
                                    "process_madvise",
                                    "pidfd_open",
                                    "pidfd_getfd",
                                    "pidfd_send_signal",
                                    "kcmp",
                                    "rt_sigqueueinfo",
                                    "rt_tgsigqueueinfo",
                                    "mount",
                                    "umount2",
                                    "pivot_root",
                                    "chroot",
                                    "open_tree",
                                    "move_mount",
                                    "fsopen",
                                    "fsmount",
                                    "mount_setattr",
                                    "setns",
                                    "unshare",
                                    "bpf",
                                    "userfaultfd",
                                    "io_uring_setup",
                                    "io_uring_enter",
                                    "io_uring_register",
                                    "memfd_secret",
                                    "shmget",
                                    "shmat",
                                    "shmctl",
                                    "msgget",
                                    "semget",
                                    "mq_open",
                                    "keyctl",
                                    "add_key",
                                    "request_key",
                                    "init_module",
                                    "finit_module",
                                    "kexec_load",
                                    "seccomp",
                                    "open_by_handle_at",
                                    "modify_ldt",
                                    "setuid",
                                    "setgid",
                                    "setresuid",
                                    "setresgid",
                                    "setreuid",
                                    "setregid",
                                    "setgroups",
                                    "capset",
                                    "clock_settime",
                                    "settimeofday",
                                    "timer_create",
                                    "setitimer"};

// What an honest program may try, a cache of its tuning say, and can do without: there is nothing to write
// to.
constexpr const char* changing_files[] = {
    "creat",     "mknod",    "mknodat", "unlink",   "unlinkat",  "rename",   "renameat",
    "renameat2", "link",     "linkat",  "symlink",  "symlinkat", "mkdir",    "mkdirat",
    "rmdir",     "truncate", "chmod",   "fchmodat", "chown",     "fchownat", "lchown"};

// Of these, and besides, what a program may do that has files of its own. No locks: other processes have
// files open that it can read.
constexpr const char* own_files[] = {"creat",     "unlink",   "unlinkat",  "rename",   "renameat",
                                     "renameat2", "mkdir",    "mkdirat",   "rmdir",    "chmod",
                                     "fchmod",    "fchmodat", "write",     "writev",   "pwrite64",
                                     "pwritev",   "fsync",    "fdatasync", "ftruncate"};

// What a driver might try and can do without, as its start was before.
constexpr const char* denied_beside_driver[] = {"socket", "socketpair", "connect",  "bind",   "listen",
                                                "accept", "accept4",    "sendmmsg", "seccomp"};
constexpr const char* kept_beside_driver[] = {"sendto",   "recvfrom",     "sendmsg",  "recvmsg",
                                              "recvmmsg", "timer_create", "setitimer"};

// A request to NVIDIA's driver that brings memory of another process into this one (NV_ESC_RM_DUP_OBJECT; the
// size of its argument is left out). What PyTorch programs have as results can be opened by other processes,
// and the handles can be guessed; a candidate that opened those of a baseline could read them, or spoil them.
constexpr std::uint64_t driver_duplicates = ('F' << 8U) | 0x34U;
constexpr std::uint64_t driver_request_bits = 0xffffU;

constexpr std::uint64_t harmless_advice[] = {MADV_NORMAL,
                                             MADV_RANDOM,
                                             MADV_SEQUENTIAL,
                                             MADV_WILLNEED,
                                             MADV_DONTNEED,
                                             MADV_FREE,
                                             MADV_DONTFORK,
                                             MADV_DOFORK,
                                             MADV_HUGEPAGE,
                                             MADV_NOHUGEPAGE,
                                             MADV_DONTDUMP,
                                             MADV_DODUMP,
                                             22 /* MADV_POPULATE_READ */,
                                             23 /* MADV_POPULATE_WRITE */};

void threads_and_processes(void* c, bool threads) {
  rule(c, SCMP_ACT_ERRNO(ENOSYS), "clone3");
  rule(c, SCMP_ACT_KILL_PROCESS, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)});
  rule(c, threads ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EAGAIN), "clone",
       {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)});
}

template <std::size_t Size>
bool among(const char* name, const char* const (&list)[Size]) {
  return std::any_of(std::begin(list), std::end(list),
                     [name](const char* one) { return std::strcmp(one, name) == 0; });
}

}  // namespace

void lock_down_with_driver(bool files) {
  const std::unique_ptr<void, release> context(seccomp_init(SCMP_ACT_ALLOW));
  if (!context) throw std::runtime_error("cannot restrict the worker process: libseccomp failed");
  void* c = context.get();
  check(seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "unsupported architecture");
  // The driver's threads, too: a candidate shares their memory.
  check(seccomp_attr_set(c, SCMP_FLTATR_CTL_TSYNC, 1), "all threads");
  (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  for (const char* name : flagrant) {
    if (among(name, kept_beside_driver)) continue;
    rule(c, among(name, denied_beside_driver) ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_KILL_PROCESS, name);
  }
  for (const char* name : changing_files) {
    if (!files || !among(name, own_files)) rule(c, SCMP_ACT_ERRNO(EPERM), name);
  }
  for (const char* name : {"memfd_create", "perf_event_open"}) rule(c, SCMP_ACT_ERRNO(EPERM), name);
  rule(c, SCMP_ACT_ERRNO(EPERM), "ioctl",
       {SCMP_A1(SCMP_CMP_MASKED_EQ, driver_request_bits, driver_duplicates)});
  threads_and_processes(c, false);
  const auto self = static_cast<std::uint64_t>(::getpid());
  rule(c, SCMP_ACT_KILL_PROCESS, "tgkill", {SCMP_A0(SCMP_CMP_NE, self)});
  rule(c, SCMP_ACT_KILL_PROCESS, "kill", {SCMP_A0(SCMP_CMP_NE, self)});
  rule(c, SCMP_ACT_KILL_PROCESS, "tkill");
  check(seccomp_load(c), "the kernel rejected the filter");
}

namespace {

using filter_context = std::unique_ptr<void, release>;

// Opening files: to read alone, unless the process has files of its own. openat2's flags lie in memory, so it
// does not exist.
void opening(void* c, bool writes) {
  constexpr std::uint64_t writing =
      O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
  rule(c, SCMP_ACT_ERRNO(ENOSYS), "openat2");
  if (writes) {
    for (const char* name : {"openat", "open"}) rule(c, SCMP_ACT_ALLOW, name);
    return;
  }
  rule(c, SCMP_ACT_ALLOW, "openat", {SCMP_A2(SCMP_CMP_MASKED_EQ, writing, 0)});
  rule(c, SCMP_ACT_ALLOW, "open", {SCMP_A1(SCMP_CMP_MASKED_EQ, writing, 0)});
  for (std::uint64_t bit = 1; bit <= writing; bit <<= 1U) {
    if ((writing & bit) == 0) continue;
    rule(c, SCMP_ACT_ERRNO(EACCES), "openat", {SCMP_A2(SCMP_CMP_MASKED_EQ, bit, bit)});
    rule(c, SCMP_ACT_ERRNO(EACCES), "open", {SCMP_A1(SCMP_CMP_MASKED_EQ, bit, bit)});
  }
}

// The filter of a worker whose process id is `self`.
filter_context worker_filter(int threads, bool error_output, std::uint64_t self, int written = -1,
                             bool files = false) {
  filter_context context(seccomp_init(SCMP_ACT_ERRNO(EPERM)));
  if (!context) throw std::runtime_error("cannot restrict the worker process: libseccomp failed");
  void* c = context.get();
  check(seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "unsupported architecture");
  // Hot calls are found by a binary search rather than a walk.
  (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  for (const char* name : computing) rule(c, SCMP_ACT_ALLOW, name);
  if (error_output) {
    for (const char* name : {"write", "writev"}) rule(c, SCMP_ACT_ALLOW, name, {SCMP_A0(SCMP_CMP_EQ, 2)});
  }
  if (written >= 0)
    rule(c, SCMP_ACT_ALLOW, "write", {SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(written))});
  // A socket of the machine is what the C library asks for to learn the name of a user (nscd); it is not
  // there.
  constexpr std::uint64_t local = 1;  // AF_UNIX
  for (const char* name : flagrant) {
    if (std::strcmp(name, "socket") == 0) {
      rule(c, SCMP_ACT_ERRNO(EACCES), name, {SCMP_A0(SCMP_CMP_EQ, local)});
      rule(c, SCMP_ACT_KILL_PROCESS, name, {SCMP_A0(SCMP_CMP_NE, local)});
    } else {
      rule(c, SCMP_ACT_KILL_PROCESS, name);
    }
  }
  // As a kernel answers whom it does not let count events.
  rule(c, SCMP_ACT_ERRNO(EACCES), "perf_event_open");

  for (const char* name : changing_files) {
    if (!files || !among(name, own_files)) rule(c, SCMP_ACT_ERRNO(EACCES), name);
  }
  // As a kernel without them would answer. What a memory file holds counts nowhere as memory of the process.
  rule(c, SCMP_ACT_ERRNO(ENOSYS), "memfd_create");

  opening(c, files);
  if (files) {
    for (const char* name : own_files) rule(c, SCMP_ACT_ALLOW, name);
    // What removing a folder takes; not F_SETLK.
    for (const std::uint64_t command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL})
      rule(c, SCMP_ACT_ALLOW, "fcntl", {SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffUL, command)});
    // How Python closes a temporary file for programs that are started.
    rule(c, SCMP_ACT_ALLOW, "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffUL, FIOCLEX)});
  }

#if defined(__x86_64__)
  // Asking for the processor's tile registers (AMX), which are off until a process asks: support, permission,
  // request. The code that would change where thread-local storage lies is not among them.
  for (const std::uint64_t code : {0x1021UL, 0x1022UL, 0x1023UL})
    rule(c, SCMP_ACT_ALLOW, "arch_prctl", {SCMP_A0(SCMP_CMP_EQ, code)});
#endif

  // Advice on memory: none that changes pages which other processes have mapped, too, or may get later
  // (MADV_REMOVE, MADV_COLLAPSE, MADV_PAGEOUT, MADV_COLD, ...).
  for (const std::uint64_t advice : harmless_advice)
    rule(c, SCMP_ACT_ALLOW, "madvise", {SCMP_A2(SCMP_CMP_MASKED_EQ, 0xffffffffUL, advice)});

  // Threads, if any; processes never.
  threads_and_processes(c, threads > 1);

  // Signals to itself (abort, raise), to nobody else.
  rule(c, SCMP_ACT_ALLOW, "tgkill", {SCMP_A0(SCMP_CMP_EQ, self)});
  rule(c, SCMP_ACT_KILL_PROCESS, "tgkill", {SCMP_A0(SCMP_CMP_NE, self)});
  rule(c, SCMP_ACT_ALLOW, "kill", {SCMP_A0(SCMP_CMP_EQ, self)});
  rule(c, SCMP_ACT_KILL_PROCESS, "kill", {SCMP_A0(SCMP_CMP_NE, self)});
  rule(c, SCMP_ACT_KILL_PROCESS, "tkill");
  // Asking for limits is what OpenMP does for its stacks; setting them is denied.
  rule(c, SCMP_ACT_ALLOW, "prlimit64", {SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0)});
  return context;
}

// Stands for the process id where that is not known yet. Larger than any that Linux gives (4194304).
constexpr std::uint32_t some_process = 0x5e1f5e1f;

std::vector<sock_filter> exported(void* context) {
  const int file = ::memfd_create("kevo-filter", MFD_CLOEXEC);
  if (file < 0) throw std::runtime_error("cannot restrict the worker process: cannot create a memory file");
  const int failure = seccomp_export_bpf(context, file);
  std::vector<sock_filter> result(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)) / sizeof(sock_filter));
  const std::size_t size = result.size() * sizeof(sock_filter);
  const bool complete = ::pread(file, result.data(), size, 0) == static_cast<ssize_t>(size);
  ::close(file);
  check(failure, "export");
  if (!complete || result.empty())
    throw std::runtime_error("cannot restrict the worker process: libseccomp created an empty filter");
  return result;
}

}  // namespace

void lock_down(int threads, bool error_output, int written) {
  const auto context = worker_filter(threads, error_output, static_cast<std::uint64_t>(::getpid()), written);
  check(seccomp_load(context.get()), "the kernel rejected the filter");
}

void lock_down_with_files(int threads) {
  const auto context = worker_filter(threads, false, static_cast<std::uint64_t>(::getpid()), -1, true);
  check(seccomp_load(context.get()), "the kernel rejected the filter");
}

prepared_lock_down::prepared_lock_down(int threads, bool error_output)
    : instructions_(exported(worker_filter(threads, error_output, some_process).get())) {}

void prepared_lock_down::set() const {
  auto mine = instructions_;
  std::size_t found = 0;
  for (auto& one : mine) {
    if (BPF_CLASS(one.code) != BPF_JMP || one.k != some_process) continue;
    one.k = static_cast<std::uint32_t>(::getpid());
    ++found;
  }
  // The calls that name a process may share one comparison.
  if (found == 0) throw std::runtime_error("cannot restrict the worker process: an unexpected filter");
  const sock_fprog program = {static_cast<unsigned short>(mine.size()), mine.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    check(-errno, "the kernel rejected the filter");
}

}  // namespace kevo
