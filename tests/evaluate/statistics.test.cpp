// once: the share of intervals that miss*
// once: a time that takes one of two*
// links: core
#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <doctest/doctest.h>

#include <kevo/evaluate/statistics.hpp>
#include <kevo/random.hpp>

using doctest::Approx;

TEST_CASE("quantiles agree with a brute-force definition") {
  CHECK(std::isnan(kevo::median({})));
  CHECK(kevo::median({3}) == 3);
  CHECK(kevo::median({4, 1, 3, 2}) == 2.5);
  CHECK(kevo::quantile({10, 20, 30, 40, 50}, 0.25) == 20);
  CHECK(kevo::quantile({1, 2}, 0.9) == Approx(1.9));
  CHECK(kevo::quantile({1, 2}, 2.0) == 2);
}

TEST_CASE("the pseudo-median agrees with a brute-force definition") {
  CHECK(std::isnan(kevo::pseudo_median({})));
  kevo::rng random(5);
  for (std::size_t n = 1; n <= 12; ++n) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(random.normal());
    std::vector<double> means;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = i; k < n; ++k) means.push_back((values[i] + values[k]) / 2);
    }
    CHECK(kevo::pseudo_median(values) == Approx(kevo::median(means)));
  }
}

TEST_CASE("a time that takes one of two values is known as well as one that varies evenly") {
  // As of a kernel whose calls take 3.55 or 3.65 ms; the median of 60 such calls is the one or the other.
  kevo::rng random(6);
  double least = 10;
  double most = 0;
  double widest = 0;
  for (int t = 0; t < 200; ++t) {
    std::vector<kevo::timing_pair> pairs;
    for (int i = 0; i < 60; ++i)
      pairs.push_back({(random.chance(0.5) ? 3.55 : 3.65) * (1 + 1e-4 * random.normal()), 3.6});
    const auto e = kevo::speedup_of(pairs, 0.05);
    least = std::min(least, e.value);
    most = std::max(most, e.value);
    widest = std::max(widest, e.range.high - e.range.low);
  }
  CHECK(most - least < 0.02);
  CHECK(widest < 0.025);
}

TEST_CASE("batches grow in number before they grow in length, and are never shorter than two") {
  std::size_t before = 0;
  for (std::size_t n = 10; n < 1000; ++n) {
    const auto batches = kevo::location_batches(n);
    CHECK(batches >= before);
    CHECK(n / batches >= 2);
    if (batches > 12) CHECK(n / batches >= 4);
    before = batches;
  }
  CHECK(kevo::location_batches(9) == 9);
  CHECK(kevo::location_batches(10) == 5);
  CHECK(before == 24);
}

TEST_CASE("Student's t agrees with the published table") {
  CHECK(kevo::student_t(0.05, 1) == Approx(12.7062).epsilon(1e-5));
  CHECK(kevo::student_t(0.05, 4) == Approx(2.7764).epsilon(1e-4));
  CHECK(kevo::student_t(0.01, 9) == Approx(3.2498).epsilon(1e-4));
  CHECK(kevo::student_t(0.10, 30) == Approx(1.6973).epsilon(1e-4));
  CHECK(kevo::student_t(0.05, 1e7) == Approx(1.95996).epsilon(1e-4));
  CHECK(kevo::incomplete_beta(2, 3, 0.4) == Approx(0.5248));  // 1 - sum of a binomial
}

// kevo has these two functions of its own because Boost.Math takes seconds to compile, which whoever includes
// kevo.hpp would pay for. Here it is the reference.
TEST_CASE("Student's t and the incomplete beta function agree with Boost.Math") {
  for (const double freedom : {1.0, 2.0, 3.5, 9.0, 24.0, 300.0, 1e4}) {
    const boost::math::students_t student(freedom);
    for (const double alpha : {1e-6, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.9}) {
      CAPTURE(freedom);
      CAPTURE(alpha);
      CHECK(kevo::student_t(alpha, freedom) ==
            Approx(boost::math::quantile(boost::math::complement(student, alpha / 2))).epsilon(1e-8));
    }
  }
  for (const double a : {0.5, 1.0, 4.5, 60.0}) {
    for (const double b : {0.5, 2.0, 33.0}) {
      for (const double x : {0.0, 1e-6, 0.1, 0.5, 0.77, 0.999, 1.0}) {
        CAPTURE(a);
        CAPTURE(b);
        CAPTURE(x);
        CHECK(kevo::incomplete_beta(a, b, x) == Approx(boost::math::ibeta(a, b, x)).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("the looks of an alpha spending plan sum to alpha") {
  for (const int looks : {1, 2, 3, 5}) {
    double sum = 0;
    for (int look = 1; look <= looks; ++look) {
      CHECK(kevo::alpha_of_look(0.05, look, looks) > 0);
      sum += kevo::alpha_of_look(0.05, look, looks);
    }
    CHECK(sum == Approx(0.05));
  }
}

TEST_CASE("the geometric mean of workloads") {
  using kevo::weighted_estimate;
  const std::vector<weighted_estimate> two = {{{2, {1.9, 2.1}}, 1}, {{8, {7.9, 8.1}}, 1}};
  const auto mean = kevo::geometric_mean(two);
  CHECK(mean.value == Approx(4));
  CHECK(mean.range.low < 4);
  CHECK(mean.range.high > 4);
  CHECK(mean.range.low > 4 * 1.9 / 2);  // errors average out: narrower than the widest part
  const std::vector<weighted_estimate> weighted = {{{2, {2, 2}}, 3}, {{32, {32, 32}}, 1}};
  CHECK(kevo::geometric_mean(weighted).value == Approx(4));
  CHECK(kevo::geometric_mean(weighted).range.low == Approx(4));
  const std::vector<weighted_estimate> failed = {{{2, {2, 2}}, 1}, {{0, {0, 0}}, 1}};
  CHECK(kevo::geometric_mean(failed).value == 0);
  CHECK(kevo::geometric_mean({}).value == 0);
}

TEST_CASE("the share of intervals that miss stays near alpha, for several kinds of noise") {
  kevo::rng random(11);
  const auto missed = [&](int n, double autocorrelation, bool heavy) {
    int misses = 0;
    const int tries = n < 100 ? 2000 : 400;
    for (int t = 0; t < tries; ++t) {
      std::vector<kevo::timing_pair> pairs;
      double state = random.normal();
      for (int i = 0; i < n; ++i) {
        state = autocorrelation * state + std::sqrt(1 - autocorrelation * autocorrelation) * random.normal();
        double noise = 0.02 * state;
        if (heavy && random.chance(0.05)) noise += 0.5 * (random.uniform() - 0.5);  // the odd interruption
        pairs.push_back({1000, 2000 * std::exp(noise)});
      }
      const auto e = kevo::speedup_of(pairs, 0.05);
      misses += e.range.low > 2 || e.range.high < 2;
    }
    return static_cast<double>(misses) / tries;
  };
  CHECK(missed(5, 0, false) < 0.07);
  CHECK(missed(20, 0, false) < 0.07);
  CHECK(missed(60, 0, false) < 0.07);
  CHECK(missed(20, 0, true) < 0.07);
  CHECK(missed(200, 0, true) < 0.07);
  CHECK(missed(200, 0.3, false) < 0.09);
  CHECK(missed(60, 0.3, false) < 0.10);  // a naive interval misses 0.16 here
  CHECK(missed(20, 0, false) > 0.01);    // and it is not simply infinite
}

TEST_CASE("one wild block does not move the estimate") {
  for (const std::size_t n : {30U, 53U, 100U}) {
    CAPTURE(n);
    std::vector<kevo::timing_pair> pairs(n, {100, 300});
    pairs[4].candidate_ns = 1e6;
    const auto e = kevo::speedup_of(pairs, 0.05);
    CHECK(e.value == Approx(3));
    CHECK(e.range.low > 2.9);
  }
}

TEST_CASE("too few samples say that nothing is known") {
  const std::vector<kevo::timing_pair> pairs = {{1, 2}, {1, 2}};
  const auto e = kevo::speedup_of(pairs, 0.05);
  CHECK(e.value == Approx(2));
  CHECK(e.range.low == 0);
  CHECK(std::isinf(e.range.high));
  CHECK(kevo::compare(e.range) == kevo::comparison::ambiguous);
  CHECK(kevo::speedup_of({}, 0.05).value == 0);
}

TEST_CASE("different needs an interval outside the margin") {
  using kevo::comparison;
  CHECK(kevo::compare({1.011, 1.2}) == comparison::faster);
  CHECK(kevo::compare({1.005, 1.2}) == comparison::ambiguous);
  CHECK(kevo::compare({0.995, 1.005}) == comparison::same);
  CHECK(kevo::compare({0.9, 0.98}) == comparison::slower);
}

TEST_CASE("correlation of neighbours") {
  std::vector<double> up;
  std::vector<double> zigzag;
  for (int i = 0; i < 50; ++i) {
    up.push_back(i);
    zigzag.push_back(i % 2);
  }
  CHECK(kevo::lag_one_correlation(up) > 0.9);
  CHECK(kevo::lag_one_correlation(zigzag) < -0.9);
  CHECK(kevo::lag_one_correlation({}) == 0);
}
