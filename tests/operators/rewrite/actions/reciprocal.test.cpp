// `reciprocal` multiplies by a reciprocal that is computed once.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("reciprocal replaces a division by an invariant, but not by what changes, or of integers") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string normalized = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, float total, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = A[i] / (total + 1);
}
)";
  const tries all = tried(parser, normalized, "reciprocal");
  REQUIRE(all.made.size() == 1);
  CHECK(contains(all.made.front(),
                 "  const float reciprocal = 1 / (total + 1);\n  for (int64_t i = 0; i < N; ++i) C[i] = A[i] "
                 "* reciprocal;\n"));
  CHECK(tried(parser, all.made.front(), "reciprocal").offered.empty());

  const std::string others = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 1; i < N; ++i) C[i] = A[i / M] / A[i] + A[i] / 4.0F;
}
)";
  CHECK(tried(parser, others, "reciprocal").offered.empty());
}
