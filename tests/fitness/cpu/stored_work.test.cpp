// How many calls could be spared something by what a process holds.
#include "fitness/cpu/stored_work.hpp"

#include <doctest/doctest.h>

TEST_CASE("what a process holds could serve the more calls the shorter they are") {
  kevo::stored_work stored;
  CHECK(kevo::calls_served(stored, 1e6) == 0);
  stored.bytes = 100e6;
  const double long_calls = kevo::calls_served(stored, 10e6);
  const double short_calls = kevo::calls_served(stored, 10e3);
  CHECK(short_calls == doctest::Approx(1000 * long_calls));
  // 5 % of 10 ms are 1 MB of new pages.
  CHECK(long_calls == doctest::Approx(100));
  stored.set_up_ns = 1e9;  // zeros that nobody wrote take no time to prepare
  CHECK(kevo::calls_served(stored, 10e6) == doctest::Approx(long_calls));
}
