#include "fitness/sandbox/filters.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seccomp.h>

#include <kevo/error.hpp>

#include "src/base/process/memory_file.hpp"

namespace kevo {
namespace {

struct context_release {
  void operator()(void* context) const { seccomp_release(context); }
};
using policy_context = std::unique_ptr<void, context_release>;

void seccomp_check(int result, const char* what) {
  if (result == 0) return;
  throw error(error_code::environment, std::string("libseccomp: ") + what + ": " + std::strerror(-result));
}

// Calls are named, not numbered: a name that this libseccomp or this architecture does not know is left out.
void filter_rule(void* context, std::uint32_t action, const char* name,
                 std::initializer_list<scmp_arg_cmp> conditions = {}) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR || number < 0) return;
  seccomp_check(seccomp_rule_add_array(context, action, number, static_cast<unsigned>(conditions.size()),
                                       conditions.begin()),
                name);
}

// What neither a compiler nor a kernel under test has any use for: other processes' memory, the kernel's
// configuration, namespaces, keys, tracing, asynchronous system calls that a filter cannot see.
constexpr const char* never[] = {"ptrace",
                                 "process_vm_readv",
                                 "process_vm_writev",
                                 "process_madvise",
                                 "kcmp",
                                 "pidfd_getfd",
                                 "mount",
                                 "umount",
                                 "umount2",
                                 "pivot_root",
                                 "chroot",
                                 "open_tree",
                                 "move_mount",
                                 "fsopen",
                                 "fsconfig",
                                 "fsmount",
                                 "fspick",
                                 "mount_setattr",
                                 "setns",
                                 "unshare",
                                 "bpf",
                                 "perf_event_open",
                                 "userfaultfd",
                                 "io_uring_setup",
                                 "io_uring_enter",
                                 "io_uring_register",
                                 "keyctl",
                                 "add_key",
                                 "request_key",
                                 "init_module",
                                 "finit_module",
                                 "delete_module",
                                 "kexec_load",
                                 "kexec_file_load",
                                 "reboot",
                                 "swapon",
                                 "swapoff",
                                 "acct",
                                 "quotactl",
                                 "quotactl_fd",
                                 "nfsservctl",
                                 "lookup_dcookie",
                                 "syslog",
                                 "vhangup",
                                 "iopl",
                                 "ioperm",
                                 "modify_ldt",
                                 "settimeofday",
                                 "clock_settime",
                                 "clock_adjtime",
                                 "adjtimex",
                                 "stime",
                                 "sethostname",
                                 "setdomainname",
                                 "name_to_handle_at",
                                 "open_by_handle_at",
                                 "fanotify_init",
                                 "mbind",
                                 "set_mempolicy",
                                 "migrate_pages",
                                 "move_pages",
                                 "personality",
                                 "uselib",
                                 "ustat",
                                 "sysfs",
                                 "_sysctl",
                                 "memfd_secret"};

constexpr const char* network[] = {"socket",  "socketpair", "connect",  "bind",     "listen",
                                   "accept",  "accept4",    "sendto",   "recvfrom", "sendmsg",
                                   "recvmsg", "sendmmsg",   "recvmmsg", "shutdown"};

constexpr const char* shared_memory[] = {"shmget",     "shmat",  "shmctl",  "shmdt",    "msgget",
                                         "msgsnd",     "msgrcv", "msgctl",  "semget",   "semop",
                                         "semtimedop", "semctl", "mq_open", "mq_unlink"};

policy_context make(syscall_policy policy) {
  policy_context context(seccomp_init(SCMP_ACT_ALLOW));
  if (!context) throw error(error_code::environment, "libseccomp cannot create a filter");
  void* c = context.get();
  seccomp_check(seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
                "unsupported architecture");
  const auto deny = SCMP_ACT_ERRNO(EPERM);
  const bool mounts = policy == syscall_policy::forker;
  for (const char* name : never) {
    if (mounts && std::strcmp(name, "mount") == 0) continue;
    if (mounts && std::strcmp(name, "unshare") == 0) {
      filter_rule(c, deny, name, {SCMP_A0(SCMP_CMP_NE, CLONE_NEWNS)});
      continue;
    }
    filter_rule(c, deny, name);
  }
  for (const char* name : shared_memory) filter_rule(c, deny, name);
  // clone3's flags lie in memory, where a filter cannot look; without it the C library uses clone.
  filter_rule(c, SCMP_ACT_ERRNO(ENOSYS), "clone3");
  for (const unsigned long space :
       {0x02000000UL, 0x00020000UL, 0x04000000UL, 0x08000000UL, 0x10000000UL, 0x20000000UL,
        0x40000000UL}) {  // CLONE_NEW*: cgroup, ns, uts, ipc, user, pid, net
    filter_rule(c, deny, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, space, space)});
  }
  if (policy == syscall_policy::command || policy == syscall_policy::device || mounts) {
    // A user's own program may speak to its own children through local sockets, and CUDA does not start
    // without; there is no network to reach.
    constexpr std::uint64_t local = 1;  // AF_UNIX
    filter_rule(c, deny, "socket", {SCMP_A0(SCMP_CMP_NE, local)});
  } else {
    for (const char* name : network) {
      const bool used = std::strcmp(name, "sendmsg") == 0 || std::strcmp(name, "recvmsg") == 0;
      if (policy != syscall_policy::parent || !used) filter_rule(c, deny, name);
    }
  }
  if (policy == syscall_policy::worker || policy == syscall_policy::device) {
    for (const char* name : {"fork", "vfork"}) filter_rule(c, deny, name);
    filter_rule(c, deny, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)});
  }
  // A terminal must not be made to type (TIOCSTI, TIOCLINUX).
  for (const unsigned long request : {0x5412UL, 0x541cUL}) {
    filter_rule(c, deny, "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffUL, request)});
  }
  return context;
}

}  // namespace

std::string compile_filter(syscall_policy policy) {
  static std::mutex mutex;
  static std::array<std::optional<std::string>, 6> known;
  const std::lock_guard lock(mutex);
  auto& text = known[static_cast<std::size_t>(policy)];
  if (text) return *text;
  const auto context = make(policy);
  const detail::descriptor file(::memfd_create("kevo-filter", MFD_CLOEXEC));
  if (!file)
    throw error(error_code::environment, std::string("cannot create a memory file: ") + std::strerror(errno));
  seccomp_check(seccomp_export_bpf(context.get(), file.get()), "export");
  std::string program;
  char buffer[4096];
  ::lseek(file.get(), 0, SEEK_SET);
  for (;;) {
    const ssize_t length = ::read(file.get(), buffer, sizeof buffer);
    if (length <= 0) break;
    program.append(buffer, static_cast<std::size_t>(length));
  }
  if (program.empty()) throw error(error_code::environment, "libseccomp created an empty filter");
  text = program;
  return program;
}

int filter_descriptor(syscall_policy policy) {
  return detail::memory_file("kevo-filter", compile_filter(policy)).release();
}

}  // namespace kevo
