// build: optimized
// timeout: 900
// The rule by which timings on a CPU end, compared with the one before it (looks at 5, 12, 30 and 40 pairs,
// which share the error probability) by timings that are drawn from pairs: those of the file that
// KEVO_RECORDED_PAIRS names, made by scripts/record_pairs.py, or else from drawn ones.
// KEVO_RESAMPLED_TIMINGS is the number of timings of each case.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <kevo/random.hpp>

#include "tests/fitness/timing/simulated_timing.hpp"

using namespace kevo;

namespace {

struct recorded_case {
  std::string name;
  double gain = 1;           // how much longer the baseline takes
  std::vector<double> logs;  // of each pair's ratio, without that of the case
};

std::vector<recorded_case> recorded_cases(const char* path) {
  std::ifstream file(path);
  std::vector<recorded_case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string condition;
    auto& one = cases.emplace_back();
    words >> condition >> one.gain;
    one.name = condition;
    for (double value = 0; words >> value;) one.logs.push_back(1e-5 * value);
    const double center = pseudo_median(one.logs);
    for (double& value : one.logs) value -= center;
  }
  return cases;
}

// Normal noise; on a busy machine more of it, and one pair of ten is far off.
std::vector<recorded_case> drawn_cases() {
  std::vector<recorded_case> cases;
  rng random(5);
  for (const bool busy : {false, true}) {
    for (const double gain : {1.0, 1.01, 1.02, 1.05, 1.2}) {
      auto& one = cases.emplace_back(recorded_case{busy ? "busy" : "quiet", gain, {}});
      for (int i = 0; i < 400; ++i) {
        const double usual = (busy ? 0.01 : 0.005) * random.normal();
        one.logs.push_back(usual + (busy && random.chance(0.1) ? 0.05 * random.normal() : 0));
      }
      const double center = pseudo_median(one.logs);
      for (double& value : one.logs) value -= center;
    }
  }
  return cases;
}

// The rule before, of first measurements.
template <class Pair>
kevo_test::simulated simulate_before(double error_probability, double target, double speedup,
                                     const Pair& pair) {
  std::vector<double> ratios;
  double spent = 0;
  for (const int pairs : {5, 12, 30, 40}) {
    while (static_cast<int>(ratios.size()) < pairs) ratios.push_back(speedup * std::exp(pair()));
    const double before = std::exchange(spent, error_probability * std::sqrt(pairs / 40.0));
    const auto e = positive_signed_rank(ratios, spent - before);
    const bool narrow = pairs > 5 && e.range.high - e.range.low < target * e.value;
    if (e.range.high < 1 || narrow || pairs == 40) return kevo_test::ended(e, speedup, ratios.size());
  }
  return {};
}

// What many timings come to.
struct rule_figures {
  double misses = 0;
  double told = 0;  // that the candidate is slower than the best, or faster
  double pairs = 0;
  double pairs_error = 0;  // standard error of the mean
};

template <class Timing>
rule_figures figures_of(int tries, double speedup, const Timing& timing) {
  rule_figures sum;
  double squares = 0;
  for (int i = 0; i < tries; ++i) {
    const kevo_test::simulated one = timing();
    sum.misses += one.misses ? 1 : 0;
    sum.told += (speedup < 1 ? one.behind : one.ahead) ? 1 : 0;
    sum.pairs += one.pairs;
    squares += static_cast<double>(one.pairs) * one.pairs;
  }
  const double mean = sum.pairs / tries;
  return {sum.misses / tries, sum.told / tries, mean,
          std::sqrt(std::max(squares / tries - mean * mean, 0.0) / tries)};
}

// 1.96 standard errors of the difference of two shares.
double error_of_shares(double a, double b, int tries) {
  return 1.96 * std::sqrt((a * (1 - a) + b * (1 - b)) / tries) + 1.0 / tries;
}

}  // namespace

TEST_CASE(
    "timings of drawn pairs miss rarely, and turn slower programs away as surely and soon as by the rule "
    "before") {
  const char* given = std::getenv("KEVO_RESAMPLED_TIMINGS");
  const int tries = given != nullptr ? std::atoi(given) : 200;
  const char* recorded = std::getenv("KEVO_RECORDED_PAIRS");
  const auto cases = recorded != nullptr ? recorded_cases(recorded) : drawn_cases();
  REQUIRE(cases.size() >= 5);
  constexpr double error_probability = 0.01;
  fmt::print("{:<14}{:>8} | misses %      | told %        | pairs\n", "case", "speedup");
  for (const auto& one : cases) {
    CAPTURE(one.name);
    REQUIRE(one.logs.size() >= 40);
    const std::vector<double> speedups =
        one.gain == 1 ? std::vector{1.0} : std::vector{one.gain, 1 / one.gain};
    for (const double speedup : speedups) {
      CAPTURE(speedup);
      rng random(41);
      const auto pair = [&] { return one.logs[random.below(one.logs.size())]; };
      const auto before =
          figures_of(tries, speedup, [&] { return simulate_before(error_probability, 0.02, speedup, pair); });
      const auto now = figures_of(tries, speedup, [&] {
        return kevo_test::simulate(first_looks({.short_s = 1e9, .full_s = 1e9}, false), error_probability,
                                   1e-3, timing_settings().target_interval, speedup, pair);
      });
      fmt::print("{:<14}{:>8.3f} | {:>5.1f} -> {:>5.1f} | {:>5.1f} -> {:>5.1f} | {:>4.1f} -> {:>4.1f}\n",
                 one.name, speedup, 100 * before.misses, 100 * now.misses, 100 * before.told, 100 * now.told,
                 before.pairs, now.pairs);
      CHECK(now.misses <= error_probability + error_of_shares(error_probability, now.misses, tries));
      if (speedup >= 1) continue;
      CHECK(now.told >= before.told - error_of_shares(before.told, now.told, tries));
      CHECK(now.pairs <= before.pairs + 1.96 * std::hypot(before.pairs_error, now.pairs_error));
    }
  }
}
