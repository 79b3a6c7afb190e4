// Arenas that are lent to one process after the other.
#include "fitness/worker/arena_pool.hpp"

#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace {

constexpr std::size_t capacity = 40000;

bool is_zero(const kevo::arena& one) {
  for (std::size_t i = 0; i < one.memory().size(); ++i) {
    if (*one.at(i) != std::byte{0}) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("an arena that comes back is lent again, cleared to the last byte") {
  kevo::arena_pool pool{kevo::rng(3)};
  std::set<const void*> places;
  for (int i = 0; i < 100; ++i) {
    auto one = pool.take(capacity);
    CHECK(one.memory().size() >= capacity);
    REQUIRE(is_zero(one));
    places.insert(one.at(0));
    std::memset(one.at(0), 0xa5, one.memory().size());
    pool.give_back(std::move(one));
  }
  CHECK(places.size() >= 4);
  CHECK(places.size() < 40);
}

TEST_CASE("two borrowers are given different memory, and both get each of it in turn") {
  kevo::arena_pool pool{kevo::rng(5)};
  std::set<const void*> of_first;
  std::set<const void*> of_second;
  for (int i = 0; i < 60; ++i) {
    auto first = pool.take(capacity);
    auto second = pool.take(capacity);
    REQUIRE(first.at(0) != second.at(0));
    of_first.insert(first.at(0));
    of_second.insert(second.at(0));
    pool.give_back(std::move(first));
    pool.give_back(std::move(second));
  }
  std::size_t common = 0;
  for (const void* place : of_first) common += of_second.count(place);
  CHECK(common >= 4);
}

TEST_CASE("sizes are kept apart, and a cleared pool has new memory") {
  auto pool = std::make_shared<kevo::arena_pool>(kevo::rng(7));
  for (int i = 0; i < 8; ++i) {
    const kevo::lent_arena small(pool, 4096);
    const kevo::lent_arena large(pool, capacity);
    CHECK(small.get().memory().size() == 4096);
    CHECK(large.get().memory().size() == kevo::arena::memory_for(capacity));
  }
  pool->clear();
  CHECK(is_zero(pool->take(capacity)));
}
