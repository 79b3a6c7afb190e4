// timeout: 600
// build: optimized
// one processor
#include "fitness/cpu/task_check.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <kevo/expression.hpp>

namespace {

kevo::program source_at(const char* path, const std::string& text) {
  return kevo::single_file_program("cpp", path, text);
}

// Sums of rows.
std::shared_ptr<kevo::task> checked_task() {
  auto t = std::make_shared<kevo::task>();
  t->name = "row_sums";
  t->axes = {{"N", {}, ""}, {"K", 64, ""}};
  kevo::tensor x;
  x.name = "x";
  x.shape = {"N", "K"};
  x.dtype = "float32";
  auto y = x;
  y.name = "y";
  y.shape = {"N"};
  t->inputs = {x};
  t->outputs = {y};
  kevo::workload w;
  w.uuid = "main";
  w.axes = {{"N", 500}};
  t->workloads = {w};
  kevo::tolerance rule;
  rule.rule = "accumulation";
  rule.scale = "scale";
  rule.length = kevo::expression::parse("K");
  t->tolerances[""] = rule;
  t->reference = kevo::reference_source{
      "cpp",
      source_at("reference.cpp",
                "#include <cmath>\n#include <cstdint>\n"
                "extern \"C\" void reference(const double* x, double* y, double* scale, std::int64_t N) {\n"
                "  for (std::int64_t i = 0; i < N; ++i) { y[i] = scale[i] = 0;\n"
                "    for (int k = 0; k < 64; ++k) { y[i] += x[64 * i + k]; scale[i] += std::fabs(x[64 * i + "
                "k]); } } }\n")};
  const auto seed = source_at(
      "seed.cpp",
      "#include <cstdint>\nextern \"C\" void run(const float* x, float* y, std::int64_t N) {\n"
      "  for (std::int64_t i = 0; i < N; ++i) { float s = 0; for (int k = 63; k >= 0; --k) s += x[64 "
      "* i + k]; y[i] = s; } }\n");
  t->seeds = {seed};
  kevo::baseline b;
  b.name = "seed";
  b.source = seed;
  t->baselines = {b};
  return t;
}

kevo::cpu_settings settings() {
  kevo::cpu_settings s;
  s.flags = {"-O1"};
  s.pool_s = 0.2;
  return s;
}

// The same sums, accepted by a bound relative to their value.
std::shared_ptr<kevo::task> with_relative_tolerance(double most) {
  auto t = checked_task();
  kevo::tolerance rule;
  rule.max_atol = 0;
  rule.max_rtol = most;
  t->tolerances[""] = rule;
  t->reference->source =
      source_at("reference.cpp",
                "#include <cstdint>\n"
                "extern \"C\" void reference(const double* x, double* y, std::int64_t N) {\n"
                "  for (std::int64_t i = 0; i < N; ++i) { y[i] = 0;\n"
                "    for (int k = 0; k < 64; ++k) y[i] += x[64 * i + k]; } }\n");
  return t;
}

const kevo::control_result& control(const kevo::task_report& report, const std::string& name) {
  for (const auto& c : report.controls) {
    if (c.name == name) return c;
  }
  FAIL("no control is called ", name);
  return report.controls.front();
}

}  // namespace

TEST_CASE("rule 6: a sound task rejects every mutant and accepts every honest program") {
  const auto report = kevo::check_task(checked_task(), settings());
  for (const auto& c : report.controls) {
    INFO(c.name, ": ", c.detail);
    CHECK(c.ok);
    CHECK_FALSE(c.skipped);
  }
  CHECK(report.ok());
  CHECK(report.controls.size() == 9);
}

TEST_CASE("a task without real tensors is not said to have some") {
  auto t = checked_task();
  t->inputs[0].dtype = t->outputs[0].dtype = "int32";
  t->inputs[0].generate = {"integers", -100, 100};
  kevo::tolerance exact;
  exact.rule = "exact";
  t->tolerances[""] = exact;
  t->reference->source = source_at("reference.cpp",
                                   "#include <cstdint>\n"
                                   "extern \"C\" void reference(const std::int64_t* x, std::int64_t* y, "
                                   "std::int64_t N) {\n"
                                   "  for (std::int64_t i = 0; i < N; ++i) { y[i] = 0;\n"
                                   "    for (int k = 0; k < 64; ++k) y[i] += x[64 * i + k]; } }\n");
  t->seeds.clear();
  t->baselines[0].source = source_at(
      "seed.cpp",
      "#include <cstdint>\nextern \"C\" void run(const std::int32_t* x, std::int32_t* y, std::int64_t "
      "N) {\n  for (std::int64_t i = 0; i < N; ++i) { y[i] = 0;\n"
      "    for (int k = 0; k < 64; ++k) y[i] += x[64 * i + k]; } }\n");
  const auto report = kevo::check_task(t, settings());
  CHECK(control(report, "reference in float32").skipped);
  CHECK(control(report, "reference in float32").detail == "no tensor has a real type");
}

TEST_CASE("rule 6: a tolerance that is too wide lets mutants through, and the report names them") {
  auto t = checked_task();
  t->tolerances[""].factor = 1e9;
  const auto report = kevo::check_task(t, settings());
  CHECK_FALSE(report.ok());
  CHECK_FALSE(control(report, "zeros").ok);
  CHECK_FALSE(control(report, "next lower precision").ok);
  CHECK(control(report, "seed seed.cpp").ok);
  CHECK_MESSAGE(report.advice.find("too wide") != std::string::npos, report.advice);
}

TEST_CASE("a contract of whole outputs is tried with wrong outputs that such contracts accept") {
  auto t = with_relative_tolerance(0);
  kevo::tolerance rule;
  rule.rule = "finite";
  rule.min_cosine = 0.9;  // a hundredth of the elements may have a few hundredths of the squares
  t->tolerances[""] = rule;
  const auto loose = kevo::check_task(t, settings());
  CHECK(control(loose, "zeros").ok);
  CHECK_FALSE(control(loose, "twice the output").ok);
  CHECK_FALSE(control(loose, "one element in a hundred zero").ok);
  rule.min_cosine = 0.999999;
  rule.max_relative_l1 = 1e-4;
  t->tolerances[""] = rule;
  const auto tight = kevo::check_task(t, settings());
  CHECK(control(tight, "twice the output").ok);
  CHECK(control(tight, "one element in a hundred zero").ok);
  CHECK(control(tight, "next lower precision").ok);
  CHECK(control(tight, "reference in float32").ok);
}

TEST_CASE("a tolerance that no program can meet is blamed, and not the baseline") {
  const auto t = with_relative_tolerance(1e-9);
  const auto report = kevo::check_task(t, settings());
  CHECK_FALSE(report.ok());
  CHECK_FALSE(control(report, "baseline seed").ok);
  CHECK_FALSE(control(report, "reference, rounded once").ok);
  CHECK_MESSAGE(report.advice.find("no program can pass") != std::string::npos, report.advice);
}

TEST_CASE("a tolerance below what the order of additions changes in float32 is blamed, too") {
  const auto t = with_relative_tolerance(1.2e-7);
  const auto report = kevo::check_task(t, settings());
  CHECK_FALSE(report.ok());
  CHECK_FALSE(control(report, "baseline seed").ok);
  CHECK(control(report, "reference, rounded once").ok);
  CHECK_FALSE(control(report, "reference in float32").ok);
  CHECK_MESSAGE(report.advice.find("computed in float32") != std::string::npos, report.advice);
}

TEST_CASE("a baseline that is wrong is blamed where the tolerance is fine") {
  auto t = checked_task();
  t->baselines.front().source = source_at(
      "wrong.cpp",
      "#include <cstdint>\nextern \"C\" void run(const float*, float* y, std::int64_t) { y[0] = 0; }\n");
  const auto report = kevo::check_task(t, settings());
  CHECK_FALSE(report.ok());
  CHECK_FALSE(control(report, "baseline seed").ok);
  CHECK(control(report, "reference in float32").ok);
  CHECK_MESSAGE(report.advice.find("a baseline is not correct") != std::string::npos, report.advice);
}

TEST_CASE("rule 6: a seed that is wrong is no honest control") {
  auto t = checked_task();
  t->seeds.push_back(source_at(
      "wrong.cpp",
      "#include <cstdint>\nextern \"C\" void run(const float*, float* y, std::int64_t) { y[0] = 0; }\n"));
  const auto report = kevo::check_task(t, settings());
  CHECK_FALSE(report.ok());
  CHECK(control(report, "seed seed.cpp").ok);
  CHECK_FALSE(control(report, "seed wrong.cpp").ok);
}

TEST_CASE("rule 6: a task whose output is one element is not blamed for mutants that are the right answer") {
  auto t = checked_task();
  t->outputs.front().shape = {};
  t->axes = {{"N", {}, ""}, {"K", 1, ""}};
  t->tolerances[""].length = kevo::expression::parse("N");
  t->reference->source =
      source_at("reference.cpp",
                "#include <cmath>\n#include <cstdint>\n"
                "extern \"C\" void reference(const double* x, double* y, double* scale, std::int64_t N) {\n"
                "  *y = *scale = 0;\n"
                "  for (std::int64_t i = 0; i < N; ++i) { *y += x[i] * x[i]; *scale += x[i] * x[i]; } }\n");
  const auto dot =
      source_at("seed.cpp",
                "#include <cstdint>\nextern \"C\" void run(const float* x, float* y, std::int64_t N) {\n"
                "  float s = 0; for (std::int64_t i = 0; i < N; ++i) s += x[i] * x[i]; *y = s; }\n");
  t->seeds = {dot};
  t->baselines.front().source = dot;
  const auto report = kevo::check_task(t, settings());
  for (const auto& c : report.controls) {
    INFO(c.name, ": ", c.detail);
    CHECK(c.ok);
    const bool same = c.name == "constant" || c.name == "mean";
    CHECK(c.skipped == same);
    if (same) CHECK(c.detail == "its output is the same as the correct one");
  }
  CHECK(report.ok());
}

TEST_CASE("a reference that ends itself is told of with what it wrote") {
  auto t = checked_task();
  t->reference->source =
      source_at("reference.cpp",
                "#include <cstdint>\n#include <stdexcept>\n"
                "extern \"C\" void reference(const double*, double*, double*, std::int64_t) {\n"
                "  throw std::runtime_error(\"row 7 has no scale\"); }\n");
  try {
    kevo::check_task(t, settings());
    FAIL("the reference was accepted");
  } catch (const kevo::error& failure) {
    INFO(failure.message());
    CHECK(failure.message().find("the reference was terminated by signal") != std::string::npos);
    CHECK(failure.message().find("row 7 has no scale") != std::string::npos);
  }
}

TEST_CASE("a workload that no memory holds is named at once, with its size") {
  auto t = checked_task();
  t->workloads.push_back(t->workloads.front());
  t->workloads.back().uuid = "huge";
  t->workloads.back().axes["N"] = std::int64_t{1} << 33U;  // of 64 columns
  try {
    kevo::check_task(t, settings());
    FAIL("it fits");
  } catch (const kevo::error& wrong) {
    CHECK(wrong.code() == kevo::error_code::environment);
    const std::string said = wrong.what();
    INFO(said);
    CHECK(said.find("workload 'huge' needs at least ") != std::string::npos);
    CHECK(said.find("GB are available") != std::string::npos);
  }
}

TEST_CASE("a task whose result does not depend on its inputs is an error, whatever the controls say") {
  auto t = with_relative_tolerance(1e-5);
  t->reference->source =
      source_at("reference.cpp",
                "#include <cstdint>\n"
                "extern \"C\" void reference(const double* x, double* y, std::int64_t N) {\n"
                "  for (std::int64_t i = 0; i < N; ++i) y[i] = x[64 * i] - x[64 * i]; }\n");
  t->seeds = {
      source_at("seed.cpp",
                "#include <cstdint>\nextern \"C\" void run(const float*, float* y, std::int64_t N) {\n"
                "  for (std::int64_t i = 0; i < N; ++i) y[i] = 0; }\n")};
  t->baselines.front().source = t->seeds.front();
  const auto report = kevo::check_task(t, settings());
  CHECK_FALSE(report.ok());
  CHECK(report.fixed_exactly);
  CHECK_MESSAGE(report.fixed_result.find("'y' (every element is 0)") != std::string::npos,
                report.fixed_result);
  const auto said = kevo::conclusion_of(report);
  CHECK_MESSAGE(said.find("does not separate") != std::string::npos, said);
  CHECK_MESSAGE(said.find("A program that ignores its inputs is right") != std::string::npos, said);
}

TEST_CASE("a tolerance within which all results are alike is told from a result that is always the same") {
  auto t = with_relative_tolerance(1e-5);
  t->tolerances[""].max_atol = 1e6;
  const auto report = kevo::check_task(t, settings());
  CHECK_FALSE(report.ok());
  CHECK_FALSE(report.fixed_exactly);
  CHECK_MESSAGE(report.fixed_result.find("the tolerance is too wide, or ") == 0, report.fixed_result);
}

TEST_CASE("rows of zeros and of masks are left out where the reference is not defined for them") {
  auto t = with_relative_tolerance(1e-4);
  t->tolerances[""].max_atol = 1e-4;
  const std::string sums =
      "  for (std::int64_t i = 0; i < N; ++i) { y[i] = 0; double q = 0;\n"
      "    for (int k = 0; k < 64; ++k) { y[i] += x[64 * i + k]; q += x[64 * i + k] * x[64 * i + k]; }\n";
  t->reference->source =
      source_at("reference.cpp",
                "#include <cmath>\n#include <cstdint>\n#include <cstdlib>\n"
                "extern \"C\" void reference(const double* x, double* y, std::int64_t N) {\n" +
                    sums + "    if (std::isinf(q)) std::abort();\n    y[i] /= std::sqrt(q); } }\n");
  t->seeds = {source_at("seed.cpp",
                        "#include <cmath>\n#include <cstdint>\n"
                        "extern \"C\" void run(const float* x, float* y, std::int64_t N) {\n" +
                            sums + "    y[i] /= std::sqrt(q); } }\n")};
  t->baselines.front().source = t->seeds.front();
  const auto report = kevo::check_task(t, settings());
  CHECK_MESSAGE(report.ok(), kevo::conclusion_of(report));
}

TEST_CASE("a correct program that did not end in time does not put the tolerance in question") {
  kevo::task_report report;
  report.controls = {{"zeros", false, true, false, ""},
                     {"seed", true, true, false, ""},
                     {"reference in float32", true, false, false, "timed_out", true}};
  CHECK(kevo::advice_for(report).find("did not end in time, which says nothing about the tolerance") !=
        std::string::npos);
  report.controls[1].ok = false;
  CHECK(kevo::advice_for(report) == "a seed is not correct, or the tolerance is too tight for it");
  report.controls[1].ok = true;
  report.controls[2].too_slow = false;
  CHECK(kevo::advice_for(report).find("the tolerance is too tight: the reference computed in float32") == 0);
  report.controls[2].ok = true;
  CHECK(kevo::advice_for(report).empty());
}

TEST_CASE("a conclusion counts the mutants, and says nothing of a task with which few could be tried") {
  kevo::task_report report;
  for (const char* name : {"zeros", "constant", "mean", "stale output"})
    report.controls.push_back({name, false, true, true, "its output is the same as the correct one"});
  report.controls.push_back({"seed", true, true, false, "passes every workload"});
  CHECK(kevo::conclusion_of(report).find("only 0 of 4 mutants could be tried: ") == 0);
  report.controls[0].skipped = false;
  CHECK(kevo::conclusion_of(report).find("only 1 of 4 mutants could be tried, and all") == 0);
  report.controls[1].skipped = false;
  CHECK(kevo::conclusion_of(report) ==
        "the task separates correct from incorrect programs (2 of 4 mutants tried, all refused)");
}

TEST_CASE("an element that the reference leaves as it was is named") {
  auto t = with_relative_tolerance(1e-5);
  t->reference->source =
      source_at("reference.cpp",
                "#include <cstdint>\n"
                "extern \"C\" void reference(const double* x, double* y, std::int64_t N) {\n"
                "  for (std::int64_t i = 0; i < N; ++i) if (i != 321) y[i] = x[64 * i]; }\n");
  try {
    kevo::check_task(t, settings());
    FAIL("the reference was accepted");
  } catch (const kevo::error& failure) {
    INFO(failure.message());
    CHECK(failure.code() == kevo::error_code::input);
    CHECK(failure.message().find("does not write element [321] of output 'y'") != std::string::npos);
  }
}
