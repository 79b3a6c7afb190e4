#include "src/base/process/spawn.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <kevo/error.hpp>

#include "src/base/process/group_keeper.hpp"

#if defined(__clang__)
#define KEVO_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))
#else
#define KEVO_IN_CHILD __attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif

namespace kevo::detail {
namespace {

// What a child says before it execs or exits.
struct answer_page {
  int error;
  const char* step;
};

// A page that parent and child share even where they share no other memory.
class shared_answer {
 public:
  shared_answer() : page_(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (page_ == MAP_FAILED) throw error(error_code::environment, "cannot start a process: out of memory");
  }
  shared_answer(const shared_answer&) = delete;
  shared_answer& operator=(const shared_answer&) = delete;
  ~shared_answer() { ::munmap(page_, 4096); }
  answer_page* get() const { return static_cast<answer_page*>(page_); }

 private:
  void* page_;
};

// ThreadSanitizer takes every clone for a fork and marks the memory of the child, which must then not be
// ours.
#if defined(__SANITIZE_THREAD__)
constexpr int share_memory = 0;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr int share_memory = 0;
#else
constexpr int share_memory = CLONE_VM;
#endif
#else
constexpr int share_memory = CLONE_VM;
#endif

// The child shares our memory until it execs (as with vfork: copying the page tables of a large controller
// would take milliseconds). It therefore allocates nothing, takes no lock, and makes its system calls
// directly: glibc's setresuid, for one, would change the user of every thread of the parent.
struct child_plan {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* directory = nullptr;
  const std::pair<int, int>* descriptors = nullptr;  // (ours, theirs); the first three are 0, 1, 2
  int* moved = nullptr;
  std::size_t descriptor_count = 0;
  int above = 3;  // first number that no descriptor of the child's takes
  const resource_limit* limits = nullptr;
  std::size_t limit_count = 0;
  const cpu_set_t* cpus = nullptr;
  bool drop_root = false;
  bool fixed_addresses = false;
  bool adopt = false;
  bool outlives = false;
  int keeper = -1;
  const sock_fprog* filter = nullptr;
  pid_t parent = 0;
  answer_page* answer = nullptr;
};

/// Tells the keeper of groups that this process leads one.
KEVO_IN_CHILD void report_group(int keeper) {
  char line[16];
  char* const end = line + sizeof line;
  char* begin = end;
  *--begin = '\n';
  for (long rest = syscall(SYS_getpid); rest > 0; rest /= 10) *--begin = static_cast<char>('0' + rest % 10);
  *--begin = ' ';
  *--begin = '+';
  syscall(SYS_sendto, keeper, begin, end - begin, MSG_NOSIGNAL, nullptr, 0);
}

KEVO_IN_CHILD int child_main(void* argument) {
  auto& plan = *static_cast<child_plan*>(argument);
  const auto fail = [&plan](const char* step) {
    plan.answer->error = errno;
    plan.answer->step = step;
    syscall(SYS_exit_group, 127);
  };
  // exec keeps "ignored", and a library user may ignore SIGPIPE or SIGCHLD.
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    std::uint64_t mask;
  } action = {};
  for (int signal = 1; signal <= 64; ++signal) syscall(SYS_rt_sigaction, signal, &action, nullptr, 8);
  if (syscall(SYS_setsid) < 0) fail("setsid");
  if (plan.cpus != nullptr && syscall(SYS_sched_setaffinity, 0, sizeof(cpu_set_t), plan.cpus) < 0) {
    fail("sched_setaffinity");
  }
  if (plan.drop_root) {
    if (syscall(SYS_setgroups, 0, nullptr) < 0) fail("setgroups");
    if (syscall(SYS_setresgid, sandbox_uid, sandbox_uid, sandbox_uid) < 0) fail("setresgid");
    if (syscall(SYS_setresuid, sandbox_uid, sandbox_uid, sandbox_uid) < 0) fail("setresuid");
  }
  // A change of user clears the parent-death signal, so it comes after; and the parent may be gone already.
  if (!plan.outlives) {
    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) fail("prctl");
    if (syscall(SYS_getppid) != plan.parent) fail("getppid");
  }
  if (plan.keeper >= 0) report_group(plan.keeper);
  if (plan.adopt && syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) fail("prctl");
  for (std::size_t i = 0; i < plan.descriptor_count; ++i) {
    plan.moved[i] =
        static_cast<int>(syscall(SYS_fcntl, plan.descriptors[i].first, F_DUPFD_CLOEXEC, plan.above));
    if (plan.moved[i] < 0) fail("fcntl");
  }
  constexpr unsigned close_on_exec = 4;  // CLOSE_RANGE_CLOEXEC
  if (syscall(SYS_close_range, 3U, ~0U, close_on_exec) < 0) {
    for (int fd = 3; fd < 4096; ++fd) syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);  // before Linux 5.11
  }
  for (std::size_t i = 0; i < plan.descriptor_count; ++i) {
    if (syscall(SYS_dup3, plan.moved[i], plan.descriptors[i].second, 0) < 0) fail("dup3");
  }
  if (plan.directory != nullptr && syscall(SYS_chdir, plan.directory) < 0) fail("chdir");
  for (std::size_t i = 0; i < plan.limit_count; ++i) {
    const rlimit64 limit = {plan.limits[i].soft, plan.limits[i].hard};
    if (syscall(SYS_prlimit64, 0, plan.limits[i].resource, &limit, nullptr) < 0) fail("prlimit64");
  }
  if (plan.fixed_addresses) {
    const long usual = syscall(SYS_personality, 0xffffffffUL);
    if (usual >= 0) syscall(SYS_personality, static_cast<unsigned long>(usual) | ADDR_NO_RANDOMIZE);
  }
  const std::uint64_t no_signals = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, nullptr, 8);
  if (plan.filter != nullptr) {
    if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("prctl");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, plan.filter) < 0) fail("seccomp");
  }
  syscall(SYS_execve, plan.path, plan.argv, plan.envp);
  fail("execve");
  return 127;
}

struct limit_plan {
  pid_t process = 0;
  const resource_limit* limits = nullptr;
  std::size_t count = 0;
  answer_page* answer = nullptr;
};

KEVO_IN_CHILD int limit_main(void* argument) {
  auto& plan = *static_cast<limit_plan*>(argument);
  if (syscall(SYS_setgroups, 0, nullptr) < 0 ||
      syscall(SYS_setresgid, sandbox_uid, sandbox_uid, sandbox_uid) < 0 ||
      syscall(SYS_setresuid, sandbox_uid, sandbox_uid, sandbox_uid) < 0) {
    plan.answer->error = errno;
  }
  for (std::size_t i = 0; i < plan.count && plan.answer->error == 0; ++i) {
    const rlimit64 limit = {plan.limits[i].soft, plan.limits[i].hard};
    if (syscall(SYS_prlimit64, plan.process, plan.limits[i].resource, &limit, nullptr) < 0)
      plan.answer->error = errno;
  }
  syscall(SYS_exit_group, 0);
  return 0;
}

/// Runs a function in a child that shares our memory until it execs or exits.
pid_t clone_and_wait(int (*function)(void*), void* argument, int* handle) {
  std::vector<char> stack(std::size_t{256} << 10U);
  auto top = reinterpret_cast<std::uintptr_t>(stack.data() + stack.size());
  top &= ~std::uintptr_t{63};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  // A change of user marks the memory, which is ours too, as not to be dumped or traced.
  const int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  const pid_t pid = clone(function, reinterpret_cast<void*>(top),
                          share_memory | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, argument, handle);
  const int clone_error = errno;
  if (dumpable == 1) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = clone_error;
  return pid;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

void require_ends() {
  struct sigaction action = {};
  if (::sigaction(SIGCHLD, nullptr, &action) != 0) return;
  const bool ignored = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
  if (ignored || (action.sa_flags & SA_NOCLDWAIT) != 0)
    throw error(error_code::environment,
                "this process ignores SIGCHLD, so it cannot detect how its child processes end", {},
                "set the signal to its default action (SIG_DFL)");
}

spawned spawn(const spawn_plan& plan) {
  require_ends();
  const shared_answer answer;
  child_plan child;
  child.answer = answer.get();
  const auto argv = pointers(plan.argv);
  const auto envp = pointers(plan.environment);
  std::vector<std::pair<int, int>> descriptors = {{plan.input, 0}, {plan.output, 1}, {plan.errors, 2}};
  descriptors.insert(descriptors.end(), plan.descriptors.begin(), plan.descriptors.end());
  std::vector<int> moved(descriptors.size(), -1);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : plan.cpus) CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  std::vector<sock_filter> instructions(plan.filter.size() / sizeof(sock_filter));
  if (!instructions.empty()) {
    std::memcpy(instructions.data(), plan.filter.data(), instructions.size() * sizeof(sock_filter));
  }
  const sock_fprog filter = {static_cast<unsigned short>(instructions.size()), instructions.data()};

  child.path = plan.argv.front().c_str();
  child.argv = argv.data();
  child.envp = envp.data();
  child.directory = plan.directory.empty() ? nullptr : plan.directory.c_str();
  child.descriptors = descriptors.data();
  child.moved = moved.data();
  child.descriptor_count = descriptors.size();
  for (const auto& [ours, theirs] : descriptors) child.above = std::max(child.above, theirs + 1);
  child.limits = plan.limits.data();
  child.limit_count = plan.limits.size();
  child.cpus = plan.cpus.empty() ? nullptr : &cpus;
  child.drop_root = plan.drop_root;
  child.fixed_addresses = plan.fixed_addresses;
  child.adopt = plan.adopt;
  child.outlives = plan.outlives;
  child.keeper = plan.keeper;
  child.filter = instructions.empty() ? nullptr : &filter;
  child.parent = getpid();

  int handle = -1;
  const pid_t pid = clone_and_wait(&child_main, &child, &handle);
  const int clone_error = errno;
  if (pid < 0) {
    throw error(error_code::environment,
                std::string("cannot start a process: ") + std::strerror(clone_error));
  }
  spawned result{pid, descriptor(handle)};
  if (answer.get()->error != 0) {
    forget_group(plan.keeper, pid);
    siginfo_t info;
    waitid(P_PIDFD, static_cast<id_t>(handle), &info, WEXITED);
    throw error(error_code::environment, "cannot start " + plan.argv.front() + ": " + answer.get()->step +
                                             ": " + std::strerror(answer.get()->error));
  }
  return result;
}

int limit_process(pid_t process, const std::vector<resource_limit>& limits, bool as_nobody) {
  if (!as_nobody) {
    for (const auto& limit : limits) {
      const rlimit value = {limit.soft, limit.hard};
      if (::prlimit(process, static_cast<__rlimit_resource>(limit.resource), &value, nullptr) != 0)
        return errno;
    }
    return 0;
  }
  const shared_answer answer;
  limit_plan plan = {process, limits.data(), limits.size(), answer.get()};
  int handle = -1;
  if (clone_and_wait(&limit_main, &plan, &handle) < 0) return errno;
  const descriptor owned(handle);
  siginfo_t info;
  waitid(P_PIDFD, static_cast<id_t>(handle), &info, WEXITED);
  return answer.get()->error;
}

}  // namespace kevo::detail
