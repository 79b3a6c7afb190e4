// once: the interval of several is narrower*
// links: core
// Several confirmations as one: against a computation of its own, and how often the interval holds.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/evaluate/pooled.hpp>
#include <kevo/random.hpp>

using namespace kevo;

namespace {

using results = std::vector<std::shared_ptr<const evaluation>>;

/// A confirmation of two visible workloads and a hidden one, as an evaluator reports it.
evaluation measured(rng& random, double speedup, double pair_sd, double session_sd, std::size_t pairs,
                    double alpha = 0.05) {
  evaluation e;
  e.outcome = outcome::valid;
  e.stage = evaluation_stage::confirmed;
  e.baseline = "seed";
  const double session = session_sd * random.normal();
  std::vector<weighted_estimate> parts;
  for (const double weight : {1.0, 3.0}) {
    workload_result w{.uuid = weight > 1 ? "large" : "small", .weight = weight};
    for (std::size_t i = 0; i < pairs; ++i) {
      const double baseline = 1000 * weight * std::exp(pair_sd * random.normal());
      w.samples.push_back(
          {1000 * weight / speedup * std::exp(session + pair_sd * random.normal()), baseline});
    }
    const auto ratio = speedup_of(w.samples, alpha);
    std::vector<double> times;
    for (const auto& pair : w.samples) times.push_back(pair.candidate_ns);
    w.speedup = ratio.value;
    w.time_ns = positive_location(times, 0.05).value;
    w.sol_fraction = 100 / w.time_ns;
    parts.push_back({ratio, weight});
    e.workloads.push_back(std::move(w));
  }
  e.workloads.push_back({.uuid = "secret", .hidden = true});
  if (alpha != 0.05) e.context[interval_alpha_key] = std::to_string(alpha);
  const auto mean = geometric_mean(parts);
  e.speedup = e.score = mean.value;
  e.speedup_interval = mean.range;
  e.sol_fraction = std::min(e.workloads[0].sol_fraction, e.workloads[1].sol_fraction);
  return e;
}

std::shared_ptr<const evaluation> shared(evaluation e) {
  return std::make_shared<const evaluation>(std::move(e));
}

/// The pseudo-median of all ratios of a workload, by its definition.
double center_of(const results& all, std::size_t workload) {
  std::vector<double> logs;
  for (const auto& one : all) {
    for (const auto& pair : one->workloads[workload].samples)
      logs.push_back(std::log(pair.baseline_ns / pair.candidate_ns));
  }
  std::vector<double> means;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t k = i; k < logs.size(); ++k) means.push_back((logs[i] + logs[k]) / 2);
  }
  std::sort(means.begin(), means.end());
  const std::size_t n = means.size();
  return n % 2 == 1 ? means[n / 2] : (means[n / 2 - 1] + means[n / 2]) / 2;
}

}  // namespace

TEST_CASE("one confirmation is what it is") {
  rng random(1);
  const evaluation e = measured(random, 1.3, 0.1, 0, 6);
  const results one = {shared(e)};
  const auto sum = pooled(one, 4);
  CHECK(sum.speedup == e.speedup);
  CHECK(sum.speedup_interval == e.speedup_interval);
}

TEST_CASE("figures of several come from the pairs of all, as a computation by definition finds them") {
  rng random(2);
  for (int round = 0; round < 30; ++round) {
    results all;
    for (std::size_t k = 0; k < 2 + random.below(3); ++k)
      all.push_back(shared(measured(random, 1.3, 0.1, 0.03, 3 + random.below(9))));
    const auto sum = pooled(all, 4);
    const double expected = std::exp((center_of(all, 0) + 3 * center_of(all, 1)) / 4);
    CHECK(sum.speedup == doctest::Approx(expected).epsilon(1e-9));
    CHECK(sum.score == sum.speedup);
    CHECK(sum.speedup_interval.low < sum.speedup);
    CHECK(sum.speedup_interval.high > sum.speedup);
    for (const std::size_t w : {0U, 1U}) {
      std::size_t pairs = 0;
      for (const auto& one : all) pairs += one->workloads[w].samples.size();
      CHECK(sum.workloads[w].samples.size() == pairs);
      CHECK(sum.workloads[w].sol_fraction == doctest::Approx(100 / sum.workloads[w].time_ns));
    }
    CHECK(sum.sol_fraction == std::min(sum.workloads[0].sol_fraction, sum.workloads[1].sol_fraction));
    const auto again = pooled(all, 4);
    CHECK(again.speedup_interval == sum.speedup_interval);  // a replay repeats it exactly
  }
}

TEST_CASE("the interval of several is narrower, and holds as often as it says, also where sessions differ") {
  for (const auto& tried :
       std::vector<std::pair<double, double>>{{0, 0.05}, {0.05, 0.05}, {0, 0.01}, {0.05, 0.01}}) {
    const double session_sd = tried.first;
    const double alpha = tried.second;
    rng random(3);
    int missed = 0;
    double width_of_one = 0;
    double width_of_all = 0;
    constexpr int tries = 400;
    for (int i = 0; i < tries; ++i) {
      results all;
      for (int k = 0; k < 4; ++k) all.push_back(shared(measured(random, 1.2, 0.05, session_sd, 12, alpha)));
      const auto sum = pooled(all, 4);
      missed += sum.speedup_interval.low > 1.2 || sum.speedup_interval.high < 1.2 ? 1 : 0;
      width_of_one += all.front()->speedup_interval.high - all.front()->speedup_interval.low;
      width_of_all += sum.speedup_interval.high - sum.speedup_interval.low;
    }
    CAPTURE(session_sd);
    CAPTURE(alpha);
    MESSAGE("missed " << missed << " of " << tries << ", widths " << width_of_one / tries << " and "
                      << width_of_all / tries);
    // Four confirmations say little of how much they differ.
    CHECK(missed <= tries * alpha * (session_sd > 0 ? 4 : 1));
    if (session_sd == 0) CHECK(width_of_all < 0.8 * width_of_one);
  }
}

TEST_CASE("by how much confirmations differ does not depend on the level of their intervals") {
  const auto of_level = [](double alpha) {
    rng random(4);
    std::vector<double> found;
    for (int round = 0; round < 50; ++round) {
      results all;
      for (int k = 0; k < 4; ++k) all.push_back(shared(measured(random, 1.2, 0.05, 0.02, 8, alpha)));
      found.push_back(detail::between_confirmations(all));
    }
    return found;
  };
  const auto usual = of_level(0.05);
  double mean = 0;
  for (const double one : usual) mean += one / static_cast<double>(usual.size());
  CHECK(mean > 0.01);  // 0.02 was put in; of four values, and cut at 0, the mean is lower
  CHECK(mean < 0.025);
  for (const double alpha : {0.01, 0.002}) {
    const auto same = of_level(alpha);
    for (std::size_t i = 0; i < usual.size(); ++i) CHECK(std::abs(same[i] - usual[i]) < 0.0005);
  }
}

TEST_CASE("a level that is no number between 0 and 1 counts as none") {
  evaluation e;
  CHECK(detail::interval_alpha(e) == 0.05);
  for (const char* said : {"", "x", "0", "1", "-0.1", "nan", "0.01 or so"}) {
    e.context[interval_alpha_key] = said;
    CHECK(detail::interval_alpha(e) == 0.05);
  }
  e.context[interval_alpha_key] = "0.01";
  CHECK(detail::interval_alpha(e) == 0.01);
  CHECK(std::abs(detail::normal_quantile(0.05) - 1.959964) < 1e-3);
  CHECK(std::abs(detail::normal_quantile(0.01) - 2.575829) < 1e-3);
}

TEST_CASE("results without pairs are averaged by their precision, and what contradicts itself is wide") {
  const auto figure = [](double speedup, double low, double high) {
    evaluation e;
    e.outcome = outcome::valid;
    e.speedup = e.score = speedup;
    e.speedup_interval = {low, high};
    return shared(e);
  };
  const results wide_then_narrow = {figure(1.8, 0.2, 16.2), figure(1.3, 1.28, 1.32)};
  const auto sum = pooled(wide_then_narrow, 4);
  CHECK(sum.speedup == doctest::Approx(1.3).epsilon(0.001));
  CHECK(sum.speedup_interval.low == doctest::Approx(1.28).epsilon(0.001));
  const results contradiction = {figure(1.2, 1.19, 1.21), figure(2, 1.99, 2.01)};
  const auto apart = pooled(contradiction, 4);
  CHECK(apart.speedup_interval.low < 1.2);
  CHECK(apart.speedup_interval.high > 2);
  const results unknown = {figure(1.2, 0, std::numeric_limits<double>::infinity()),
                           figure(1.2, 0, std::numeric_limits<double>::infinity())};
  CHECK(pooled(unknown, 4).speedup == doctest::Approx(1.2));
  CHECK(std::isinf(pooled(unknown, 4).speedup_interval.high));
  const results sharp = {figure(1.2, 1.2, 1.2), figure(1.2, 1.2, 1.2)};
  CHECK(pooled(sharp, 4).speedup_interval.low == doctest::Approx(1.2));
}

TEST_CASE("scores of their own are averaged, and what was measured elsewhere is left out") {
  evaluation a;
  a.outcome = outcome::valid;
  a.score = 4;
  evaluation b = a;
  b.score = 8;
  CHECK(pooled(results{shared(a), shared(b)}, 4).score == 6);
  CHECK(pooled(results{shared(a), shared(b)}, 4).speedup == 0);
  b.device = "another";
  CHECK(pooled(results{shared(a), shared(b)}, 4).score == 8);
}

TEST_CASE("both times are pooled: the one that counts as the speedup, the other from the single results") {
  rng random(11);
  results all;
  for (int i = 0; i < 3; ++i) {
    auto e = measured(random, 1.34, 0.01, 0.005, 16);
    e.context["time"] = "device";
    e.device_speedup = e.speedup;
    e.device_speedup_interval = e.speedup_interval;
    e.host_speedup = 3.7 * (1 + 0.01 * i);
    e.host_speedup_interval = {0.97 * e.host_speedup, 1.03 * e.host_speedup};
    for (auto& w : e.workloads) {
      if (!w.hidden) w.device.ns = w.time_ns;
    }
    all.push_back(shared(std::move(e)));
  }
  const auto sum = pooled(all, 3);
  CHECK(sum.device_speedup == sum.speedup);
  CHECK(sum.device_speedup_interval == sum.speedup_interval);
  CHECK(sum.host_speedup == doctest::Approx(3.7 * 1.01).epsilon(0.001));
  CHECK(sum.host_speedup_interval.low > 0.96 * sum.host_speedup);
  CHECK(sum.host_speedup_interval.high < 1.04 * sum.host_speedup);
  CHECK(sum.workloads[0].device.ns == sum.workloads[0].time_ns);

  // Where a confirmation has one time alone, nothing is said of the other by all.
  auto one = *all.front();
  one.host_speedup = 0;
  all.front() = shared(one);
  CHECK(pooled(all, 3).host_speedup == all.back()->host_speedup);
}
