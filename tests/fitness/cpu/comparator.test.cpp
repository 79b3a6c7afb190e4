// one processor
// build: optimized
// Where calls of the first baseline take long, candidates are timed against a faster one until they are
// confirmed.
#include <numeric>
#include <string>

#include <doctest/doctest.h>

#include "tests/fitness/cpu/line_task.hpp"

using namespace line_task;

namespace {

// Some 15 ms a call.
const std::string very_slow =
    "for (std::int64_t i = 0; i < N; ++i) {\n"
    "  volatile float s = 0; for (int k = 0; k < 400; ++k) s = 2 * x[i] + 1; y[i] = s; }\n";

kevo::evaluation evaluated(kevo::cpu_fitness& fitness, kevo::evaluation_stage wanted) {
  kevo::evaluation_request request;
  request.program = candidate(half_as_slow);
  request.wanted = wanted;
  return fitness.evaluate(request);
}

}  // namespace

TEST_CASE("an indirect comparison says so, and agrees with the direct one of a confirmation") {
  const auto t = example(60000, very_slow);
  t->baselines.push_back({.name = "fast", .source = *candidate(right)});
  kevo::cpu_fitness fitness(t, fixture::settings({}));
  const auto first = evaluated(fitness, kevo::evaluation_stage::timed_full);
  REQUIRE_MESSAGE(first.valid(), first.feedback);
  CHECK(first.context.at("compared_indirectly").find("workload 'main' was timed against 'fast'") !=
        std::string::npos);
  const auto confirmed = evaluated(fitness, kevo::evaluation_stage::confirmed);
  REQUIRE_MESSAGE(confirmed.valid(), confirmed.feedback);
  CHECK_FALSE(confirmed.context.contains("compared_indirectly"));
  CHECK(first.speedup_interval.low <= confirmed.speedup_interval.high);
  CHECK(confirmed.speedup_interval.low <= first.speedup_interval.high);
  CHECK(first.speedup > 5);
  // The baseline's calls of the second evaluation alone take longer than all of the first one's candidate.
  CHECK(confirmed.cost.parts_s.at("calls of the baselines") > 0);
}

TEST_CASE("a program that is about as slow as the first baseline is compared with that one itself") {
  const auto t = example(60000, very_slow);
  t->baselines.push_back({.name = "fast", .source = *candidate(right)});
  auto settings = fixture::settings({});
  settings.timing.short_s = settings.timing.full_s = 0.2;
  kevo::cpu_fitness fitness(t, settings);
  kevo::evaluation_request request;
  request.program = candidate(very_slow + "// the same\n");
  request.fresh = true;  // else nothing of the baseline's own program is measured
  const auto e = fitness.evaluate(request);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK_FALSE(e.context.contains("compared_indirectly"));
  CHECK(e.workloads[0].samples.size() >= 4);
  CHECK(e.speedup > 0.5);
  CHECK(e.speedup < 2);
}

TEST_CASE("a candidate that is far slower than the best one is timed briefly, and its time is right") {
  fixture f;
  kevo::evaluation_request request;
  request.program = candidate(half_as_slow);
  const auto usual = f.fitness.evaluate(request);
  request.best_speedup = 100;
  request.fresh = true;
  const auto brief = f.fitness.evaluate(request);
  REQUIRE_MESSAGE(brief.valid(), brief.feedback);
  CHECK(usual.stage == kevo::evaluation_stage::timed_full);
  CHECK(brief.stage == kevo::evaluation_stage::timed_short);
  CHECK(brief.workloads[0].samples.size() == 3);
  CHECK(brief.workloads[0].samples.size() < usual.workloads[0].samples.size());
  CHECK(brief.speedup_interval.low <= usual.speedup_interval.high);
  CHECK(usual.speedup_interval.low <= brief.speedup_interval.high);
}

TEST_CASE("a candidate that is far slower than the best one does not wait for calls of a slow baseline") {
  const auto t = example(60000, very_slow);
  t->baselines.push_back({.name = "fast", .source = *candidate(right)});
  kevo::cpu_fitness fitness(t, fixture::settings({}));
  kevo::evaluation_request request;
  request.program = candidate(very_slow + "// the same\n");
  request.best_speedup = 100;
  request.fresh = true;
  const auto e = fitness.evaluate(request);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.stage == kevo::evaluation_stage::timed_short);
  CHECK(e.context.contains("compared_indirectly"));
  CHECK(e.workloads[0].samples.size() == 3);
  CHECK(e.speedup > 0.3);
  CHECK(e.speedup < 3);
}

TEST_CASE("a program that looks slow while it is checked, and is not, is timed in full") {
  // The first two calls of a process take ten times as long. So does each untimed first call.
  const std::string slow_at_first =
      "static int calls = 0;\n"
      "if (calls++ < 2) for (int k = 0; k < 40; ++k) { volatile float s = 0; for (std::int64_t i = 0; i < N; "
      "++i) s = x[i]; }\n";
  fixture f;
  kevo::evaluation_request request;
  request.program = candidate(slow_at_first + right);
  request.best_speedup = 4;
  const auto e = f.fitness.evaluate(request);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.stage == kevo::evaluation_stage::timed_full);
  CHECK(e.speedup > 4);
}

namespace {

// Some 60 ms a call, in registers.
const std::string of_tens_of_milliseconds = again_and_again(400);

}  // namespace

TEST_CASE(
    "beside a baseline whose calls take long, several processes make a pair, and the speedup is that of "
    "single ones") {
  auto settings = fixture::settings({});
  // So little time that eight pairs exceed it on any machine.
  settings.timing = {.short_pairs = 5,
                     .pairs = 40,
                     .short_s = 0.05,
                     .full_s = 0.05,
                     .sustained_s = 0,
                     .target_interval = 0.1};
  kevo::cpu_fitness fitness(example(60000, of_tens_of_milliseconds), settings);
  kevo::evaluation_request request;
  request.program = candidate(again_and_again(20));
  request.wanted = kevo::evaluation_stage::confirmed;
  const auto e = fitness.evaluate(request);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.stage == kevo::evaluation_stage::confirmed);
  const auto pairs = e.workloads[0].samples.size();
  CHECK_MESSAGE((pairs == 5 || pairs == 8), pairs);
  CHECK(e.speedup > 0.6 * 20);
  CHECK(e.speedup < 1.4 * 20);
}

TEST_CASE(
    "a program that is wrong in the first call of a process only, for some kinds of contents, is refused") {
  // It is right unless most neighbouring elements are nearly equal, as in the contents that are constant but
  // for a few elements.
  const std::string wrong_in_first_calls =
      "static int calls = 0;\n"
      "int near = 0;\n"
      "for (int i = 0; i < 500; ++i) near += std::abs(int((x[i + 1] - x[i]) * 1000)) <= std::abs(int(x[i] * "
      "20));\n"
      "if (calls++ == 0 && N > 1000 && near > 400) { for (std::int64_t i = 0; i < N; ++i) y[i] = 0; return; "
      "}\n";
  fixture f;
  kevo::evaluation_request request;
  request.program = candidate(wrong_in_first_calls + right);
  const auto e = f.fitness.evaluate(request);
  CHECK(e.outcome == kevo::outcome::incorrect);
}

TEST_CASE("the parts of an evaluation's time do not exceed the whole") {
  fixture f;
  const auto e = f.run(right, kevo::evaluation_stage::timed_full);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.context.contains("compared_indirectly") == false);
  const double sum = std::accumulate(e.cost.parts_s.begin(), e.cost.parts_s.end(), 0.0,
                                     [](double s, const auto& part) { return s + part.second; });
  CHECK(sum > 0.7 * e.cost.wall_s);
  CHECK(sum <= 1.01 * e.cost.wall_s);
  CHECK(e.cost.parts_s.at("preparation of the task") > 0);
  // Early evaluations make further contents, for less than half of a second in all here.
  f.run(half_as_slow);
  f.run(half_as_slow + "// once more\n");
  f.run(half_as_slow + "// and again\n");
  CHECK_FALSE(f.run(half_as_slow + "// at last\n").cost.parts_s.contains("preparation of the task"));
}
