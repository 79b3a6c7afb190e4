// timeout: 120
// once: threads only where they were asked for*
// once: a locked process may abort*
// once: beside a driver's context what it may need*
// once: threads that a driver has started*
#include "fitness/sandbox/lock_down.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <functional>
#include <sched.h>
#include <string>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include "tests/support/skip.hpp"

namespace {

// What became of a locked process that does one thing: its exit code, or 128 + signal.
int locked(const std::function<int()>& deed, const std::function<void(int)>& lock_down, int threads = 1) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    lock_down(threads);
    const int code = deed();
    ::syscall(SYS_exit_group, code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int locked(const std::function<int()>& deed, int threads = 1, bool driver = false) {
  return locked(
      deed, [driver](int allowed) { driver ? kevo::lock_down_with_driver() : kevo::lock_down(allowed); },
      threads);
}

// A sanitizer's runtime works around threads and signals, and is itself locked down.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool plain = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool plain = false;
#else
constexpr bool plain = true;
#endif
#else
constexpr bool plain = true;
#endif

constexpr const char* sanitized = "a sanitizer's runtime works around threads and signals";

constexpr int ended_by_filter = 128 + SIGSYS;

template <class Result>
int refused(Result result) {
  return result < 0 ? errno : 0;
}

}  // namespace

TEST_CASE("computing, memory, clocks, reading files and loading objects go on") {
  CHECK(locked([] {
          void* memory = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          if (memory == MAP_FAILED) return 1;
          memory = ::mremap(memory, 1 << 20, 1 << 21, MREMAP_MAYMOVE);
          if (memory == MAP_FAILED || ::mprotect(memory, 4096, PROT_READ) != 0 ||
              ::munmap(memory, 1 << 21) != 0)
            return 2;
          std::free(std::malloc(50 << 20));
          const int file = ::open("/etc/passwd", O_RDONLY | O_CLOEXEC);
          char byte = 0;
          if (file < 0 || ::read(file, &byte, 1) != 1 || ::close(file) != 0) return 3;
          timespec time = {0, 1000};
          if (::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time) != 0) return 4;
          time = {0, 1000};
          if (::nanosleep(&time, nullptr) != 0 || ::sched_yield() != 0) return 5;
          if (::getpid() <= 0 || ::syscall(SYS_gettid) <= 0) return 6;
          if (::dlopen("libm.so.6", RTLD_NOW) == nullptr) return 7;
          cpu_set_t cpus;
          if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 8;
          return 42;
        }) == 42);
}

TEST_CASE("writing to what is open is refused, quietly") {
  CHECK(locked([] { return refused(::write(2, "x", 1)); }) == EPERM);
  CHECK(locked([] { return std::printf("lost\n"), std::fflush(stdout), 7; }) == 7);
}

TEST_CASE("what no kernel does ends the process by SIGSYS") {
  const std::pair<const char*, std::function<int()>> deeds[] = {
      {"socket", [] { return refused(::socket(AF_INET, SOCK_STREAM, 0)); }},
      {"socketpair",
       [] {
         int s[2];
         return refused(::socketpair(AF_UNIX, SOCK_STREAM, 0, s));
       }},
      {"execve", [] { return refused(::execl("/bin/true", "true", nullptr)); }},
      {"fork", [] { return refused(::fork()); }},
      {"raw fork", [] { return refused(::syscall(SYS_fork)); }},
      {"raw clone", [] { return refused(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }},
      {"ptrace", [] { return refused(::ptrace(PTRACE_TRACEME, 0, 0, 0)); }},
      {"kill the parent", [] { return refused(::kill(::getppid(), 0)); }},
      {"kill all", [] { return refused(::kill(-1, SIGTERM)); }},
      {"tkill", [] { return refused(::syscall(SYS_tkill, ::getppid(), 0)); }},
      {"tgkill", [] { return refused(::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0)); }},
      {"process_vm_readv",
       [] { return refused(::syscall(SYS_process_vm_readv, ::getppid(), nullptr, 0, nullptr, 0, 0)); }},
      {"io_uring", [] { return refused(::syscall(SYS_io_uring_setup, 1, nullptr)); }},
      {"bpf", [] { return refused(::syscall(SYS_bpf, 0, nullptr, 0)); }},
      {"userfaultfd", [] { return refused(::syscall(SYS_userfaultfd, 0)); }},
      {"shmget", [] { return refused(::syscall(SYS_shmget, 0, 4096, 01600)); }},
      {"mount", [] { return refused(::syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, nullptr)); }},
      {"another filter", [] { return refused(::syscall(SYS_seccomp, 1, 0, nullptr)); }},
      {"pidfd_open", [] { return refused(::syscall(SYS_pidfd_open, ::getppid(), 0)); }},
  };
  for (const auto& deed : deeds) {
    INFO(deed.first);
    CHECK(locked(deed.second) == ended_by_filter);
    CHECK(locked(deed.second, 4) == ended_by_filter);
  }
}

TEST_CASE("who tries to write a file or to have a memory file is told no, and lives on") {
  const std::pair<const char*, std::function<int()>> deeds[] = {
      {"open to write", [] { return refused(::open("/tmp/kevo-lock-down", O_WRONLY)); }},
      {"open to read and write", [] { return refused(::open("/dev/zero", O_RDWR)); }},
      {"create", [] { return refused(::open("/tmp/kevo-lock-down", O_RDONLY | O_CREAT, 0600)); }},
      {"truncate by opening", [] { return refused(::open("/tmp/kevo-lock-down", O_RDONLY | O_TRUNC)); }},
      {"nameless file", [] { return refused(::open("/tmp", O_TMPFILE | O_RDWR, 0600)); }},
      {"raw open", [] { return refused(::syscall(SYS_open, "/dev/null", O_WRONLY)); }},
      {"raw creat", [] { return refused(::syscall(SYS_creat, "/tmp/kevo-lock-down", 0600)); }},
      {"unlink", [] { return refused(::unlink("/tmp/kevo-lock-down")); }},
      {"rename", [] { return refused(::rename("/tmp/kevo-lock-down", "/tmp/kevo-lock-down-2")); }},
      {"mkdir", [] { return refused(::mkdir("/tmp/kevo-lock-down", 0700)); }},
  };
  for (const auto& deed : deeds) {
    INFO(deed.first);
    CHECK(locked(deed.second) == EACCES);
    CHECK(locked(deed.second, 4) == EACCES);
  }
  CHECK(locked([] { return refused(::memfd_create("x", 0)); }) == ENOSYS);
  CHECK(locked([] { return refused(::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0)); }) == EACCES);
  CHECK(locked([] { return refused(::socket(AF_UNIX, SOCK_STREAM, 0)); }) == EACCES);
  CHECK(::access("/tmp/kevo-lock-down", F_OK) != 0);
}

TEST_CASE("who has files of its own may change them, and do nothing else that others may not") {
  char folder[] = "/tmp/kevo-lock-down-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const auto own = [&](const std::function<int(const std::string&)>& deed) {
    return locked([&] { return deed(std::string(folder) + "/x"); }, &kevo::lock_down_with_files);
  };
  CHECK(own([](const std::string& path) {
          const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
          if (file < 0 || ::write(file, "x", 1) != 1 || ::ftruncate(file, 10) != 0) return 1;
          const auto other = path + "y";
          if (::rename(path.c_str(), other.c_str()) != 0 || ::unlink(other.c_str()) != 0) return 2;
          return ::mkdir(path.c_str(), 0700) != 0 || ::rmdir(path.c_str()) != 0 ? 3 : 42;
        }) == 42);
  CHECK(own([](const std::string& path) { return refused(::symlink("/", path.c_str())); }) == EACCES);
  CHECK(own([](const std::string& path) { return refused(::chown(path.c_str(), 1, 1)); }) == EACCES);
  CHECK(own([](const std::string&) { return refused(::flock(0, LOCK_SH)); }) == EPERM);
  CHECK(own([](const std::string&) {
          struct flock whole = {};
          whole.l_type = F_RDLCK;
          return refused(::fcntl(0, F_SETLK, &whole));
        }) == EPERM);
  CHECK(own([](const std::string&) {
          return refused(::syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, nullptr));
        }) == ended_by_filter);
  CHECK(own([](const std::string&) { return refused(::unshare(CLONE_NEWNS)); }) == ended_by_filter);
  CHECK(own([](const std::string&) { return refused(::socket(AF_INET, SOCK_STREAM, 0)); }) ==
        ended_by_filter);
  if (plain) {
    const auto beside_driver = [&](const std::function<int()>& deed) {
      return locked(deed, [](int) { kevo::lock_down_with_driver(true); });
    };
    const auto path = std::string(folder) + "/x";
    CHECK(beside_driver([&] { return ::mkdir(path.c_str(), 0700) != 0 || ::rmdir(path.c_str()) != 0; }) == 0);
    CHECK(beside_driver([&] { return refused(::symlink("/", path.c_str())); }) == EPERM);
  }
  ::rmdir(folder);
}

#if defined(__x86_64__)
TEST_CASE("tile registers may be asked for, and nothing else of that call") {
  constexpr int get_support = 0x1021;
  constexpr int set_thread_storage = 0x1002;
  const bool known = [] {
    unsigned long mask = 0;
    return ::syscall(SYS_arch_prctl, get_support, &mask) == 0;
  }();
  if (known) {
    CHECK(locked([] {
            unsigned long mask = 0;
            return refused(::syscall(SYS_arch_prctl, get_support, &mask));
          }) == 0);
  } else {
    MESSAGE("this kernel does not know tile registers: that they may be asked for is not tested");
  }
  CHECK(locked([] { return refused(::syscall(SYS_arch_prctl, set_thread_storage, 0)); }) == EPERM);
}
#endif

TEST_CASE("other calls answer EPERM, and calls whose flags a filter cannot see do not exist") {
  CHECK(locked([] {
          int ends[2];
          return refused(::pipe(ends));
        }) == EPERM);
  CHECK(locked([] { return refused(::dup(0)); }) == EPERM);
  CHECK(locked([] { return refused(::syscall(SYS_prctl, 4, 1, 0, 0, 0)); }) == EPERM);
  CHECK(locked([] { return refused(::syscall(SYS_sched_setaffinity, 0, 0, nullptr)); }) == EPERM);
  CHECK(locked([] { return refused(::syscall(SYS_setpriority, 0, 0, 0)); }) == EPERM);
  CHECK(locked([] {
          rlimit limit = {1, 1};
          return refused(::setrlimit(RLIMIT_CORE, &limit));
        }) == EPERM);
  CHECK(locked([] { return refused(::syscall(SYS_clone3, nullptr, 0)); }) == ENOSYS);
  CHECK(locked([] { return refused(::syscall(SYS_openat2, AT_FDCWD, "/dev/null", nullptr, 0)); }) == ENOSYS);
}

TEST_CASE("threads only where they were asked for") {
  if (!plain) return kevo_test::skip(sanitized);
  const auto start_one = [] {
    try {
      int value = 0;
      std::thread([&value] { value = 5; }).join();
      return value;
    } catch (const std::system_error&) {
      return 9;
    }
  };
  CHECK(locked(start_one, 1) == 9);
  CHECK(locked(start_one, 2) == 5);
}

TEST_CASE("a locked process may abort") {
  if (!plain) return kevo_test::skip(sanitized);
  CHECK(locked([] {
          std::abort();
          return 0;
        }) == 128 + SIGABRT);
}

TEST_CASE("a locked process may end itself as it likes") {
  CHECK(locked([] { return ::raise(SIGKILL); }) == 128 + SIGKILL);
  CHECK(locked([] {
          ::_exit(3);
          return 0;
        }) == 3);
}

TEST_CASE("beside a driver's context what it may need goes on, and nothing else starts") {
  if (!plain) return kevo_test::skip(sanitized);
  const auto with_driver = [](const std::function<int()>& deed) { return locked(deed, 1, true); };
  CHECK(with_driver([] {
          const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
          if (file < 0 || ::write(file, "x", 1) != 1 || ::close(file) != 0) return 1;
          void* memory = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          return memory == MAP_FAILED ? 2 : 0;
        }) == 0);
  CHECK(with_driver([] {
          try {
            std::thread([] {}).join();
          } catch (const std::system_error& denied) {
            return denied.code() == std::errc::resource_unavailable_try_again ? 0 : 1;
          }
          return 2;
        }) == 0);
  CHECK(with_driver([] { return refused(::socket(AF_UNIX, SOCK_STREAM, 0)); }) == EPERM);
  CHECK(with_driver([] { return refused(::memfd_create("x", 0)); }) == EPERM);
  const auto request = [](unsigned long number) {
    return [number] { return refused(::ioctl(::open("/dev/null", O_RDWR | O_CLOEXEC), number, nullptr)); };
  };
  CHECK(with_driver(request(0xc01c4634UL)) == EPERM);  // memory of another process
  CHECK(with_driver(request(0xc020462aUL)) == ENOTTY);
  CHECK(with_driver([] { return refused(::mkdir("/tmp/kevo-never", 0700)); }) == EPERM);
  CHECK(with_driver([] { return ::fork() == 0 ? 0 : 1; }) == ended_by_filter);
  CHECK(with_driver([] { return ::execl("/bin/true", "true", nullptr); }) == ended_by_filter);
  CHECK(with_driver([] { return ::kill(::getppid(), 0); }) == ended_by_filter);
  CHECK(with_driver([] { return refused(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }) ==
        ended_by_filter);
}

TEST_CASE("threads that a driver has started are locked down with the rest") {
  if (!plain) return kevo_test::skip(sanitized);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    std::atomic<bool> locked_down{false};
    std::thread earlier([&] {
      while (!locked_down) ::sched_yield();
      ::execl("/bin/true", "true", nullptr);
      ::_exit(1);
    });
    kevo::lock_down_with_driver();
    locked_down = true;
    earlier.join();
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS));
}

namespace {

// As `locked`, with a filter that the parent made.
int locked_by(const kevo::prepared_lock_down& filter, const std::function<int()>& deed) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    filter.set();
    const int code = deed();
    ::syscall(SYS_exit_group, code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a filter that was made ahead lets each child signal itself and nobody else") {
  const kevo::prepared_lock_down filter(1);
  const pid_t parent = ::getpid();
  for (int child = 0; child < 3; ++child) {
    CHECK(locked_by(filter, [] { return refused(::kill(::getpid(), 0)) + 5; }) == 5);
    CHECK(locked_by(filter, [] { return refused(::syscall(SYS_tgkill, ::getpid(), ::getpid(), 0)) + 5; }) ==
          5);
    CHECK(locked_by(filter, [parent] { return refused(::kill(parent, 0)); }) == ended_by_filter);
    CHECK(locked_by(filter, [parent] { return refused(::syscall(SYS_tgkill, parent, parent, 0)); }) ==
          ended_by_filter);
    CHECK(locked_by(filter, [] { return refused(::kill(0, 0)); }) == ended_by_filter);
    CHECK(locked_by(filter, [] { return refused(::kill(-1, 0)); }) == ended_by_filter);
    CHECK(locked_by(filter, [] { return refused(::kill(0x5e1f5e1f, 0)); }) == ended_by_filter);
    CHECK(locked_by(filter, [] { return refused(::fork()); }) == ended_by_filter);
    CHECK(locked_by(filter, [] { return refused(::syscall(SYS_sendmsg, 0, nullptr, 0)); }) ==
          ended_by_filter);
    CHECK(locked_by(filter, [] { return refused(::open("/tmp/kevo-lock-down", O_WRONLY)); }) == EACCES);
  }
}

TEST_CASE("advice on memory changes nothing for other processes that have it mapped") {
  const auto advised = [](int advice) {
    return locked([advice] {
      void* memory = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      return memory == MAP_FAILED ? 99 : refused(::madvise(memory, 1 << 20, advice));
    });
  };
  for (const int harmless : {MADV_DONTNEED, MADV_WILLNEED, MADV_NOHUGEPAGE, MADV_SEQUENTIAL})
    CHECK(advised(harmless) == 0);
  constexpr int cold = 20;
  constexpr int page_out = 21;
  constexpr int collapse = 25;
  for (const int harmful : {MADV_REMOVE, MADV_MERGEABLE, cold, page_out, collapse})
    CHECK(advised(harmful) == EPERM);
}
