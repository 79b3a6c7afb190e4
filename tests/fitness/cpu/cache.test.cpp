// one processor
// timeout: 600
// What the CPU cascade remembers, and that a confirmation is measured anew.
#include <doctest/doctest.h>

#include "fitness/sandbox/scratch_folder.hpp"
#include "tests/fitness/cpu/line_task.hpp"

using namespace line_task;

TEST_CASE("a cached result says so, and a confirmation never comes from the cache") {
  const kevo::scratch_folder folder(false);
  fixture f(60000, folder.path());
  CHECK_FALSE(f.run("y[0] = 1;").cached);
  CHECK(f.run("y[0] = 1;").cached);
  CHECK_FALSE(f.run(right, kevo::evaluation_stage::timed_short).cached);
  CHECK(f.run(right, kevo::evaluation_stage::timed_short).cached);
  const auto confirmed = f.run(right, kevo::evaluation_stage::confirmed);
  CHECK_FALSE(confirmed.cached);
  CHECK(confirmed.stage == kevo::evaluation_stage::confirmed);
  CHECK(confirmed.workloads[0].sustained_ns > 0.2 * confirmed.workloads[0].time_ns);
  CHECK(confirmed.workloads[0].sustained_ns < 5 * confirmed.workloads[0].time_ns);
  CHECK(confirmed.workloads[1].sustained_ns == 0);
}
