// `hoist` computes a call that does not change in a loop before it.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("hoist computes an invariant call before the loop, and no call that changes") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string scaled = R"(#include <cmath>
#include <cstdint>
extern "C" void run(const float* A, float* C, float x, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = A[j] * std::sqrt(x);
  }
}
)";
  const tries all = tried(parser, scaled, "hoist");
  REQUIRE(all.made.size() == 1);
  CHECK(contains(all.made.front(),
                 "  const auto constant_sqrt = std::sqrt(x);\n  for (int64_t i = 0; i < M; ++i) {\n"));
  CHECK(contains(all.made.front(), "C[i * N + j] = A[j] * constant_sqrt;\n"));
  CHECK(tried(parser, all.made.front(), "hoist").offered.empty());

  const std::string changing = R"(#include <cmath>
#include <cstdint>
extern "C" void run(const float* A, float* C, float x, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    x += A[i];
    C[i] = std::sqrt(x) + std::sqrt(A[i]);
  }
}
)";
  CHECK(tried(parser, changing, "hoist").offered.empty());
}
