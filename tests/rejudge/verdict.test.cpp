// When an old result holds.

#include "src/rejudge/verdict.hpp"

#include <doctest/doctest.h>

using namespace kevo;

namespace {

evaluation timed(double low, double high, outcome found = outcome::valid) {
  evaluation e;
  e.outcome = found;
  e.speedup = found == outcome::valid ? (low + high) / 2 : 0;
  e.score = e.speedup;
  e.speedup_interval = {low, high};
  e.device = "one";
  e.baseline = "seed";
  return e;
}

}  // namespace

TEST_CASE("intervals decide: all of the ratio below 0.95, above 1.05, within 0.9 and 1.1, or none of these") {
  const evaluation old = timed(1.98, 2.02);
  CHECK(compare(old, timed(1.97, 2.01)).word == rejudge_word::holds);
  CHECK(compare(old, timed(1.70, 1.80)).word == rejudge_word::slower);
  CHECK(compare(old, timed(2.20, 2.30)).word == rejudge_word::faster);
  CHECK(compare(old, timed(1.50, 2.50)).word == rejudge_word::undecided);
  CHECK(compare(timed(1.0, 3.0), timed(1.98, 2.02)).word == rejudge_word::undecided);
  // A little less is neither slower nor undecided.
  CHECK(compare(old, timed(1.90, 1.93)).word == rejudge_word::holds);
}

TEST_CASE("what is not valid any more fell, with the reason that was found") {
  evaluation now = timed(0, 0, outcome::rejected);
  now.reasons = {"changed its inputs"};
  const auto fell = compare(timed(1.98, 2.02), now);
  CHECK(fell.word == rejudge_word::fell);
  CHECK(fell.reason == "rejected: changed its inputs");
}

TEST_CASE("speedups of another device or over different baseline are not compared, but a fall is a fall") {
  evaluation now = timed(1.97, 2.01);
  now.device = "another";
  CHECK(compare(timed(1.98, 2.02), now).word == rejudge_word::undecided);
  now.outcome = outcome::incorrect;
  CHECK(compare(timed(1.98, 2.02), now).word == rejudge_word::fell);
  now = timed(1.97, 2.01);
  now.baseline = "openblas";
  CHECK(compare(timed(1.98, 2.02), now).reason.find("different baseline") != std::string::npos);
}

TEST_CASE("scores without a speedup are compared as they are") {
  evaluation old;
  old.outcome = outcome::valid;
  old.score = 100;
  evaluation now = old;
  CHECK(compare(old, now).word == rejudge_word::holds);
  now.score = 50;
  CHECK(compare(old, now).word == rejudge_word::slower);
  now.score = 0;
  CHECK(compare(old, now).word == rejudge_word::undecided);
}
