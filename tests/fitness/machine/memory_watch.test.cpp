// What is taken for a disturbance of the memory, and that the memory can be read past the caches.
#include "fitness/machine/memory_watch.hpp"

#include <memory>

#include <doctest/doctest.h>

TEST_CASE("the memory is slow where a reading is far below the best quarter of those before") {
  kevo::memory_watch memory;
  CHECK(memory.usual() == 0);
  CHECK(memory.note(1e9));  // nothing is known yet
  for (int i = 0; i < 30; ++i) memory.note(10e9 + 1e7 * i);
  CHECK(memory.usual() > 10e9);
  CHECK(memory.note(8e9));
  CHECK_FALSE(memory.note(5e9));
  CHECK(memory.disturbance().empty());
}

TEST_CASE("a wait for memory that stays slow ends, and is told until it is forgotten") {
  kevo::memory_watch memory;
  for (int i = 0; i < 200; ++i) memory.note(1e15);  // no machine reaches this
  memory.await_quiet();
#if defined(__x86_64__)
  CHECK(memory.disturbance().find("before 1 of 1 pairs") != std::string::npos);
  memory.forget();
#endif
  CHECK(memory.disturbance().empty());
}

TEST_CASE("readings past the caches are possible ones") {
  constexpr std::size_t bytes = std::size_t{1} << 20U;
  const auto memory = std::make_unique<std::byte[]>(bytes);
  const auto reading = kevo::read_bandwidth(memory.get(), bytes);
#if defined(__x86_64__)
  REQUIRE(reading.has_value());
  CHECK(*reading > 1e7);
  CHECK(*reading < 1e12);
#else
  CHECK_FALSE(reading.has_value());
#endif
}
