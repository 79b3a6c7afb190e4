// The sentences that say why a champion is undecided.
#include "src/base/text/verdict_text.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace kevo;

TEST_CASE("why a champion is undecided is said in one sentence") {
  const auto why = [](verdict_reason reason, interval range, std::string_view disturbed = {}) {
    return format::why_undecided({.reason = reason, .widest = 0.1}, 2, range, disturbed);
  };
  CHECK(why(verdict_reason::none, {1.9, 2.1}).empty());
  CHECK(why(verdict_reason::wide, {1.85, 2.15}) ==
        "the interval's width is 15 % of the speedup; the limit is 10 %");
  CHECK(why(verdict_reason::wide, {1.5, std::numeric_limits<double>::infinity()}) ==
        "too few readings for an interval");
  CHECK(why(verdict_reason::contains_one, {0.5, 3}, "the machine was busy") ==
        "the interval contains 1: neither faster nor slower is shown; the machine was busy");
  CHECK(why(verdict_reason::failed, {1.9, 2.1}) == "a further confirmation of it failed");
}
