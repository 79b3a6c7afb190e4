// What is linked into the workers.
#include "fitness/sandbox/limit_memory.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace {

constexpr std::size_t mebibyte = 1U << 20U;

// The exit code of a process that is limited and does one thing.
int limited(const std::function<int()>& deed, void (*limit)(std::uint64_t) = kevo::limit_further_memory) {
  const pid_t child = ::fork();
  if (child == 0) {
    limit(64 * mebibyte);
    ::syscall(SYS_exit_group, deed());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

// 0 or errno.
int mapped(std::size_t bytes, int protection) {
  return ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

int with_few_addresses(const std::function<int()>& deed) {
  return limited(deed, kevo::limit_further_addresses);
}

// As the sandbox does before a program of a candidate starts.
bool drop_capabilities() {
  __user_cap_header_struct who{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return ::syscall(SYS_capset, &who, none) == 0;
}

}  // namespace

TEST_CASE("a limited process has as much memory more as it was given, and not twice as much") {
  CHECK(limited([] { return mapped(48 * mebibyte, PROT_READ | PROT_WRITE); }) == 0);
  CHECK(limited([] { return mapped(72 * mebibyte, PROT_READ | PROT_WRITE); }) == ENOMEM);
  CHECK(limited([] {
          for (int i = 0; i < 200; ++i) {
            if (const int failed = mapped(mebibyte, PROT_READ | PROT_WRITE)) return failed;
          }
          return 0;
        }) == ENOMEM);
}

TEST_CASE("what is reserved and not writable is free, until it becomes writable") {
  CHECK(limited([] { return mapped(1024 * mebibyte, PROT_NONE); }) == 0);
  CHECK(limited([] {
          void* at = ::mmap(nullptr, 1024 * mebibyte, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          return ::mprotect(at, 1024 * mebibyte, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
        }) == ENOMEM);
}

TEST_CASE("the limit cannot be lifted again") {
  CHECK(limited([] {
          if (!drop_capabilities()) return 1;  // of root, who may
          const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
          return ::setrlimit(RLIMIT_DATA, &none) == 0 ? 0 : errno;
        }) == EPERM);
}

TEST_CASE("addresses are as many more as were given, of whatever kind") {
  for (const int kind : {MAP_PRIVATE, MAP_SHARED}) {
    for (const int protection : {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE}) {
      const auto all = [=](std::size_t bytes) {
        void* at = ::mmap(nullptr, bytes, protection, kind | MAP_ANONYMOUS, -1, 0);
        return at == MAP_FAILED ? errno : 0;
      };
      CHECK(with_few_addresses([&] { return all(40 * mebibyte); }) == 0);
      CHECK(with_few_addresses([&] { return all(65 * mebibyte); }) == ENOMEM);
    }
  }
}

TEST_CASE("memory that is written and made read-only is still counted") {
  const auto hoard = [] {
    for (int i = 0; i < 16; ++i) {
      void* at = ::mmap(nullptr, 8 * mebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (at == MAP_FAILED) return errno;
      if (::mprotect(at, 8 * mebibyte, PROT_READ) != 0) return 1;
    }
    return 0;
  };
  CHECK(limited(hoard) == 0);  // a limit on private writable memory is passed by
  CHECK(with_few_addresses(hoard) == ENOMEM);
}

TEST_CASE("the limit on private memory is told, where there is one") {
  CHECK(limited([] { return kevo::private_memory_limit().value_or(0) >= 64 * mebibyte ? 0 : 1; }) == 0);
}
