// Whose job is next.
#include "src/serve/fair_queue.hpp"

#include <map>
#include <string>

#include <doctest/doctest.h>

using kevo::serve::fair_queue;

namespace {

/// Takes jobs, each of which needs so many seconds by its tenant, and counts them.
std::map<std::string, int> turns_of(fair_queue& queue, int count,
                                    const std::map<std::string, double>& needs) {
  std::map<std::string, int> all;
  for (int i = 0; i < count; ++i) {
    const auto taken = queue.take();
    ++all[taken.tenant];
    queue.settle(taken, needs.at(taken.tenant));
  }
  return all;
}

void put_many(fair_queue& queue, const std::string& tenant, int count, std::int64_t priority = 0) {
  for (int i = 0; i < count; ++i)
    queue.put(tenant + std::to_string(i), tenant,
              {.priority = priority, .number = static_cast<std::uint64_t>(i)});
}

}  // namespace

TEST_CASE("one tenant's jobs are in the order of priority, deadline and number") {
  fair_queue queue;
  queue.put("late", "ann", {.number = 1});
  queue.put("soon", "ann", {.deadline = 5, .number = 2});
  queue.put("first", "ann", {.priority = 1, .number = 3});
  CHECK(queue.before("ann", "late", 1000) == 2);
  CHECK(queue.before("ann", "late", 1) == 1);
  CHECK(queue.before("bob", "late", 1000) == -1);
  for (const char* key : {"first", "soon", "late"}) {
    CHECK(queue.next() == key);
    CHECK(queue.take().key == key);
  }
  CHECK(!queue.next());
}

TEST_CASE("a tenant with many jobs of high priority does not hold up another one") {
  fair_queue queue;
  put_many(queue, "ann", 1000, 100);
  put_many(queue, "bob", 10);
  CHECK(queue.tenants() == 2);
  const auto all = turns_of(queue, 20, {{"ann", 1}, {"bob", 1}});
  CHECK(all == std::map<std::string, int>{{"ann", 10}, {"bob", 10}});
  CHECK(queue.size() == 990);
}

TEST_CASE("time is shared, not the number of jobs") {
  fair_queue queue;
  put_many(queue, "ann", 200);
  put_many(queue, "bob", 200);
  const auto all = turns_of(queue, 110, {{"ann", 10}, {"bob", 1}});
  CHECK(all.at("ann") >= 9);
  CHECK(all.at("ann") <= 12);
}

TEST_CASE("whoever had nothing to do has saved up nothing") {
  fair_queue queue;
  put_many(queue, "ann", 300);
  turns_of(queue, 100, {{"ann", 1}});
  put_many(queue, "bob", 100);
  const auto all = turns_of(queue, 50, {{"ann", 1}, {"bob", 1}});
  CHECK(all.at("bob") >= 24);
  CHECK(all.at("bob") <= 26);
}

TEST_CASE("a job that two tenants want is taken once, when the first of them has its turn") {
  fair_queue queue;
  put_many(queue, "ann", 5);
  queue.put("ann4", "bob", {.number = 4});
  CHECK(queue.size() == 5);
  CHECK(queue.size_of("bob") == 1);
  CHECK(queue.before("bob", "ann4", 1000) == 0);
  CHECK(queue.take().key == "ann0");
  const auto shared = queue.take();
  CHECK(shared.key == "ann4");
  CHECK(shared.tenant == "bob");
  CHECK(queue.size_of("ann") == 3);
  CHECK(queue.size_of("bob") == 0);
  CHECK(!queue.contains("ann4"));
}
