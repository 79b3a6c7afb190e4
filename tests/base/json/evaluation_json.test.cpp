#include "src/base/json/evaluation_json.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "src/base/json/exact_parse.hpp"

namespace {

kevo::evaluation example() {
  kevo::rng random(7);
  kevo::evaluation e;
  e.outcome = kevo::outcome::valid;
  e.speedup = e.score = 3.0 + random.uniform();
  e.speedup_interval = {e.speedup - 0.1, e.speedup + 0.1 / 3};
  e.stage = kevo::evaluation_stage::timed_full;
  e.baseline = "seed";
  e.other_speedups = {{"openblas", 0.7}};
  e.other_speedup_intervals = {{"openblas", {0.7 - 0.1 / 3, 0.75}}};
  e.device = "A \"CPU\"\n";
  e.backend = "cpu";
  e.protocol = "1";
  e.feedback = "two\nlines";
  e.reasons = {"one", "two"};
  e.measures = {{"code_bytes", 1234.0}};
  e.cost = {1.25, 0.5, 0.375, {{"compile", 0.5}, {"calls of the candidate", 0.25}}};
  e.context = {{"sandbox", "bubblewrap, seccomp"}};
  kevo::workload_result w;
  w.uuid = "square";
  w.axes = {{"M", 512}, {"N", std::int64_t{1} << 40U}};
  w.time_ns = 1234.5678901234567;
  w.time_interval = {1200.1, 1300.3};
  w.baseline_ns = 4000;
  w.speedup = e.speedup;
  for (int i = 0; i < 500; ++i) w.samples.push_back({random.uniform() * 1e6, random.uniform() * 1e-6});
  e.workloads = {w, w, w};
  e.workloads[0].outcome = kevo::outcome::valid;
  e.workloads[1].hidden = true;
  e.workloads[1].outcome = kevo::outcome::incorrect;
  return e;
}

}  // namespace

TEST_CASE("the full form gives back the same evaluation, bit for bit") {
  const auto e = example();
  const auto text = kevo::to_json(e);
  const auto back = kevo::evaluation_from_json(text);
  CHECK(kevo::to_json(back) == text);
  CHECK(back.speedup == e.speedup);
  CHECK(back.speedup_interval == e.speedup_interval);
  CHECK(back.other_speedups == e.other_speedups);
  CHECK(back.other_speedup_intervals == e.other_speedup_intervals);
  CHECK(back.stage == e.stage);
  CHECK(back.context == e.context);
  CHECK(back.cost.parts_s == e.cost.parts_s);
  CHECK(back.reasons == e.reasons);
  REQUIRE(back.workloads.size() == 3);
  CHECK(back.workloads[0].samples == e.workloads[0].samples);
  CHECK(back.workloads[0].axes == e.workloads[0].axes);
  CHECK(back.workloads[0].outcome == kevo::outcome::valid);
  CHECK(back.workloads[1].outcome == kevo::outcome::incorrect);
  CHECK_FALSE(back.workloads[2].outcome);
}

TEST_CASE(
    "an evaluation that was recorded without intervals of its further speedups is read, and stays as it "
    "was") {
  auto e = example();
  const std::string key = "\"other_speedup_intervals\"";
  CHECK(kevo::to_json(e).find(key + ":{\"openblas\":[0.6") != std::string::npos);
  e.other_speedup_intervals.clear();
  const auto text = kevo::to_json(e);
  CHECK(text.find(key) == std::string::npos);
  const auto back = kevo::evaluation_from_json(text);
  CHECK(back.other_speedups == e.other_speedups);
  CHECK(back.other_speedup_intervals.empty());
  CHECK(kevo::to_json(back) == text);
  CHECK_THROWS_AS(kevo::evaluation_from_json(R"({"other_speedup_intervals": {"openblas": [0.7]}})"),
                  kevo::error);
}

TEST_CASE("two times of a call are written where both were measured, and come back bit for bit") {
  auto e = example();
  CHECK(kevo::to_json(e).find("host") == std::string::npos);
  e.device_speedup = e.speedup;
  e.device_speedup_interval = e.speedup_interval;
  e.host_speedup = 3.7 + 1.0 / 3;
  e.host_speedup_interval = {3.5, 4.1};
  auto& w = e.workloads[0];
  w.device = {.ns = 1234.5678901234567, .range = {1200.1, 1300.3}, .baseline_ns = 4000, .speedup = 3.24};
  w.host = {.ns = 50e3 / 3, .range = {16e3, 17e3}, .baseline_ns = 185e3, .speedup = 11.1};
  for (const bool exact : {false, true}) {
    kevo::evaluation_json_options options;
    options.exact = exact;
    const auto text = kevo::to_json(e, options);
    const auto back = kevo::evaluation_from_json(text);
    CHECK(kevo::to_json(back, options) == text);
    CHECK(back.host_speedup == e.host_speedup);
    CHECK(back.host_speedup_interval == e.host_speedup_interval);
    CHECK(back.device_speedup == e.device_speedup);
    CHECK(back.device_speedup_interval == e.device_speedup_interval);
    CHECK(back.workloads[0].device == w.device);
    CHECK(back.workloads[0].host == w.host);
    CHECK(back.workloads[2].host == kevo::time_figures{});
  }
  // What is missing of the two is null.
  e.host_speedup = 0;
  e.host_speedup_interval = {};
  CHECK(kevo::to_json(e).find("\"host_speedup\":null,\"host_speedup_interval\":null") != std::string::npos);
  // Nothing is said of a hidden workload.
  kevo::evaluation secret = example();
  secret.workloads[1].host = w.host;
  CHECK(kevo::to_json(secret, {.raw_samples = false, .hidden_details = false}).find("host_ns") ==
        std::string::npos);
}

TEST_CASE("what was not measured is null, and so is what is not a number") {
  kevo::evaluation e;
  e.outcome = kevo::outcome::build_failed;
  e.measures["broken"] = std::numeric_limits<double>::quiet_NaN();
  e.workloads.emplace_back();
  CHECK(kevo::to_json(e).find("\"hidden\":false,\"outcome\":null") != std::string::npos);
  const auto text = kevo::to_json(e, {.task = "matmul", .program = "abc", .raw_samples = false});
  CHECK(text.find("\"task\":\"matmul\"") != std::string::npos);
  CHECK(text.find("\"program\":\"abc\"") != std::string::npos);
  CHECK(text.find("\"speedup\":null") != std::string::npos);
  CHECK(text.find("\"speedup_interval\":null") != std::string::npos);
  CHECK(text.find("\"time_ns\":null") != std::string::npos);
  CHECK(text.find("\"broken\":null") != std::string::npos);
  CHECK(text.find("pairs") == std::string::npos);
  CHECK(kevo::evaluation_from_json(text).outcome == kevo::outcome::build_failed);
}

TEST_CASE("the form for operators says nothing of a hidden workload but its outcome") {
  const auto text =
      kevo::to_json(example(), {.task = {}, .program = {}, .raw_samples = false, .hidden_details = false});
  CHECK(text.find(R"({"hidden":true,"outcome":"incorrect"})") != std::string::npos);
}

TEST_CASE("the exact form keeps what is not finite, signs of zero, and bytes that are not text") {
  auto e = example();
  const double infinity = std::numeric_limits<double>::infinity();
  e.measures = {{"nan", std::numeric_limits<double>::quiet_NaN()},
                {"inf", infinity},
                {"minus", -infinity},
                {"zero", -0.0}};
  e.speedup = -0.0;
  e.score = -infinity;
  e.workloads[0].samples = {{infinity, -0.0}};
  e.feedback = "broken \xff\xfe bytes";
  kevo::evaluation_json_options exact;
  exact.exact = true;
  const auto back = kevo::evaluation_from_json(kevo::to_json(e, exact));
  CHECK(kevo::to_json(back, exact) == kevo::to_json(e, exact));
  CHECK(std::isnan(back.measures.at("nan")));
  CHECK(back.measures.at("inf") == infinity);
  CHECK(back.measures.at("minus") == -infinity);
  CHECK(std::signbit(back.measures.at("zero")));
  CHECK(std::signbit(back.speedup));
  CHECK(back.score == -infinity);
  CHECK(back.workloads[0].samples == e.workloads[0].samples);
  CHECK(back.feedback == e.feedback);
}

TEST_CASE("text that is not an evaluation is refused with a place") {
  CHECK_THROWS_WITH_AS(kevo::evaluation_from_json("{\"outcome\":\n  nope}"), doctest::Contains("line 2"),
                       kevo::error);
  CHECK_THROWS_WITH_AS(kevo::evaluation_from_json(R"({"speedup": "fast"})"), doctest::Contains("speedup"),
                       kevo::error);
  CHECK_THROWS_AS(kevo::evaluation_from_json(R"({"outcome": "great"})"), kevo::error);
  CHECK_THROWS_AS(kevo::evaluation_from_json("[]"), kevo::error);
  CHECK_THROWS_AS(kevo::evaluation_from_json("{} {}"), kevo::error);
  CHECK_THROWS_AS(kevo::evaluation_from_json(""), kevo::error);
}

TEST_CASE(
    "the wait for other processes is part of the cost, and is none in a record that does not know of it") {
  kevo::evaluation e;
  e.cost = {2, 0.5, 0.75};
  kevo::evaluation_json_options exact;
  exact.exact = true;
  CHECK(kevo::evaluation_from_json(kevo::to_json(e, exact)).cost.waited_s == 0.75);
  CHECK(kevo::evaluation_from_json(R"({"outcome": "valid", "cost": {"wall_s": 2, "device_s": 0.5}})")
            .cost.waited_s == 0);
}

TEST_CASE("numbers are read with correct rounding") {
  kevo::rng random(3);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::ldexp(random.uniform(), static_cast<int>(random.integer(-300, 300)));
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    CHECK(kevo::parse_json_exactly(text).to_number<double>() == std::strtod(text, nullptr));
  }
}
