// `simd` tells the compiler that iterations are independent, or what they collect.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("simd names what a loop collects, and refuses a loop that needs its own results") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string scaled = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  float largest = A[0];
  for (int64_t i = 0; i < N; ++i) largest = A[i] > largest ? A[i] : largest;
  for (int64_t i = 0; i < N; ++i) C[i] = A[i] / largest;
}
)";
  const tries all = tried(parser, scaled, "simd");
  REQUIRE(all.made.size() == 2);
  CHECK(contains(
      all.made[0],
      "  #pragma omp simd reduction(max : largest)\n  for (int64_t i = 0; i < N; ++i) {\n    largest ="));
  CHECK(contains(all.made[1],
                 "  #pragma GCC ivdep\n  for (int64_t i = 0; i < N; ++i) {\n    C[i] = A[i] / largest;\n"));
  const tries again = tried(parser, all.made[1], "simd");
  REQUIRE(again.offered.size() == 1);
  CHECK(again.offered.front() == "loop i in line 4");

  const std::string prefix_sums = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 1; i < N; ++i) C[i] = C[i - 1] + A[i];
}
)";
  const std::vector<std::string> why = {"an iteration uses what another one writes to C[i]"};
  CHECK(tried(parser, prefix_sums, "simd").refused == why);
}
