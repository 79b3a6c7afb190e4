// Counters of a process, and what recorded counts say.
#include "fitness/machine/hardware_counters.hpp"

#include <unistd.h>

#include <doctest/doctest.h>

#include "fitness/sandbox/sandbox.hpp"
#include "tests/support/has.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;

TEST_CASE("recorded counts in words, with the rates that are looked for") {
  // A matrix multiplication in cache on a Zen 4 core.
  CHECK(describe(std::vector<counter_reading>{{"instructions", 2.4e9},
                                              {"cycles", 8e8},
                                              {"branch misses", 1.2e6},
                                              {"loads", 6e8},
                                              {"load misses of the first-level cache", 1.5e7}}) ==
        "2.4e+09 instructions, 8e+08 cycles (3.00 instructions per cycle), 1.2e+06 branch misses (0.50 per "
        "1000 instructions), 6e+08 loads, 1.5e+07 load misses of the first-level cache (2.5 % of the loads)");
  CHECK(describe(std::vector<counter_reading>{{"cycles", 8e8}}) == "8e+08 cycles");
  CHECK(describe(std::vector<counter_reading>()).empty());
}

TEST_CASE("where there are no counters, it is said why") {
  const hardware_counters own(::getpid());
  // The same answer for the machine as for a process of ours.
  CHECK(own.missing().empty() == missing_counters().empty());
  if (own.missing().empty()) return;
  CHECK(own.read().empty());
  CHECK(own.missing() == missing_counters());
  const hardware_counters nobody(2'000'000'000);
  CHECK(!nobody.missing().empty());
}

TEST_CASE("counters that are opened from outside count what a process executes") {
  if (!missing_counters().empty()) {
    kevo_test::skip("there are no hardware counters here: " + missing_counters());
    return;
  }
  std::optional<hardware_counters> counters;
  launch_spec spec;
  spec.argv = {"/usr/bin/env"};
  spec.mounts = toolchain_mounts("/usr/bin/g++");
  spec.sandbox = sandbox_mode::best;
  if (!contains(spec.sandbox)) return;
  const auto open = [](pid_t process, void* context) {
    static_cast<std::optional<hardware_counters>*>(context)->emplace(process);
  };
  CHECK(launch(spec, open, &counters).wait().ok());
  REQUIRE(counters);
  const auto readings = counters->read();
  REQUIRE(!readings.empty());
  CHECK(readings.front().count > 10000);
}
