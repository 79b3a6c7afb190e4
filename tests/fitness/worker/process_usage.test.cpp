// What the kernel says of a process: tried on the test's own.
#include "fitness/worker/process_usage.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <doctest/doctest.h>

TEST_CASE("memory that a process may write to is counted, touched or not") {
  constexpr std::size_t size = 64U << 20U;
  const double before = kevo::writable_bytes_of(::getpid());
  CHECK(before > 0);
  void* const lazy = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const shared = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(lazy != MAP_FAILED);
  REQUIRE(shared != MAP_FAILED);
  CHECK(kevo::writable_bytes_of(::getpid()) >= before + 1.9 * size);
  ::munmap(lazy, size);
  ::munmap(shared, size);
  CHECK(kevo::writable_bytes_of(::getpid()) < before + 0.1 * size);
}

TEST_CASE("faults and reads are those of the process, and a process that is not there has none") {
  const auto own = kevo::usage_of(::getpid());
  REQUIRE(own);
  CHECK(own->major_faults >= 0);
  CHECK(own->read_bytes >= 0);
  constexpr pid_t nobody = 0x3ffffff;  // above the largest that Linux gives
  CHECK_FALSE(kevo::usage_of(nobody));
  CHECK(kevo::writable_bytes_of(nobody) == 0);
}
