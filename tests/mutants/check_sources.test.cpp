// timeout: 600
// build: optimized
// one processor
#include "src/mutants/check_sources.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "operators/rewrite/parser.hpp"
#include "tests/support/skip.hpp"

namespace {

bool has_parser() {
  try {
    kevo::rewriting::parser_program();
    return true;
  } catch (const kevo::error& failure) {
    kevo_test::skip(failure.what());
    return false;
  }
}

// y[i] = sqrt(x[i]^2 + 1e-4) for `sizes` elements, exact to `rtol`.
std::shared_ptr<kevo::task> smooth_magnitude(std::initializer_list<std::int64_t> sizes, double rtol) {
  auto t = std::make_shared<kevo::task>();
  t->name = "magnitude";
  t->axes = {{"N", {}, ""}};
  kevo::tensor x;
  x.name = "x";
  x.shape = {"N"};
  x.dtype = "float32";
  t->inputs = {x};
  x.name = "y";
  t->outputs = {x};
  for (const auto size : sizes) {
    kevo::workload w;
    w.uuid = "of_" + std::to_string(size);
    w.axes = {{"N", size}};
    t->workloads.push_back(w);
  }
  kevo::tolerance rule;
  rule.max_atol = 0;
  rule.max_rtol = rtol;
  t->tolerances[""] = rule;
  const std::string body =
      "  for (std::int64_t i = 0; i < N; ++i) y[i] = std::sqrt(x[i] * x[i] + 1e-4);\n}\n";
  const std::string head = "#include <cmath>\n#include <cstdint>\nextern \"C\" void ";
  t->reference = kevo::reference_source{
      "cpp",
      kevo::single_file_program("cpp", "reference.cpp",
                                head + "reference(const double* x, double* y, std::int64_t N) {\n" + body)};
  const auto seed = kevo::single_file_program(
      "cpp", "seed.cpp", head + "run(const float* x, float* y, std::int64_t N) {\n" + body);
  t->seeds = {seed};
  kevo::baseline b;
  b.name = "seed";
  b.source = seed;
  t->baselines = {b};
  return t;
}

kevo::cpu_settings quick() {
  kevo::cpu_settings s;
  s.flags = {"-O1"};
  s.pool_s = 0.2;
  return s;
}

std::size_t survivors_like(const kevo::source_check& checked, const std::string& change) {
  return static_cast<std::size_t>(
      std::count_if(checked.surviving.begin(), checked.surviving.end(),
                    [&](const auto& one) { return one.change.find(change) != std::string::npos; }));
}

void check_sum(const kevo::source_check& checked) {
  CHECK(checked.not_made.empty());
  CHECK(checked.made == checked.not_built + checked.caught + checked.equivalent + checked.surviving.size());
}

}  // namespace

TEST_CASE("a task whose sizes are all below 256 lets mutants of 8 bits survive, each with its place") {
  if (!has_parser()) return;
  const auto checked = kevo::check_sources(smooth_magnitude({200, 251}, 1e-5), quick(), {100, 200});
  check_sum(checked);
  INFO(kevo::text_of(checked));
  CHECK(checked.caught > 0);
  CHECK(survivors_like(checked, "an index of 8 bits") > 0);
  CHECK(survivors_like(checked, "N has 16 bits") == 1);
  const auto text = kevo::text_of(checked);
  CHECK(text.find("survives  seed.cpp:4  index (an index of 8 bits): i -> ((i) & 0xff)") !=
        std::string::npos);
}

TEST_CASE("a tolerance that hides the small number is a hole") {
  if (!has_parser()) return;
  const auto checked = kevo::check_sources(smooth_magnitude({70001}, 1.0), quick(), {100, 200});
  check_sum(checked);
  CHECK(survivors_like(checked, "11 significant bits") > 0);
}

TEST_CASE("a sound task catches every mutant that is not the same machine code") {
  if (!has_parser()) return;
  const auto checked = kevo::check_sources(smooth_magnitude({257, 70001}, 1e-6), quick(), {100, 200});
  check_sum(checked);
  CHECK(checked.made == checked.possible);
  CHECK_MESSAGE(checked.surviving.empty(), kevo::text_of(checked));
  CHECK(checked.caught > 15);
}

TEST_CASE("what was left out is said") {
  if (!has_parser()) return;
  const auto few = kevo::check_sources(smooth_magnitude({257}, 1e-6), quick(), {3, 200});
  CHECK(few.made == 3);
  CHECK(kevo::text_of(few).find("further ones were not tried (--mutants tries more)") != std::string::npos);
  const auto none = kevo::check_sources(smooth_magnitude({257}, 1e-6), quick(), {0, 200});
  CHECK(kevo::text_of(none) == "no mutants of the seeds were tried: --mutants 0\n");
  auto late = kevo::check_sources(smooth_magnitude({257}, 1e-6), quick(), {3, 1e-9});
  CHECK(late.made == 0);
  CHECK(kevo::text_of(late).find("(no time was left)") != std::string::npos);
}
