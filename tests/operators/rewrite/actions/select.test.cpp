// `select` replaces a branch by a conditional expression.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("select replaces branches that assign in any case, and none that may leave an element alone") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string both = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  float least = A[0];
  for (int64_t i = 0; i < N; ++i) {
    if (A[i] < least) least = A[i];
    if (A[i] < 0) {
      C[i] = -A[i];
    } else {
      C[i] = A[i];
    }
  }
  C[0] += least;
}
)";
  const tries all = tried(parser, both, "select");
  REQUIRE(all.made.size() == 2);
  CHECK(contains(all.made[0], "    least = (A[i] < least) ? (A[i]) : least;\n"));
  CHECK(contains(all.made[1], "    C[i] = (A[i] < 0) ? (-A[i]) : (A[i]);\n"));
  CHECK(tried(parser, all.made[0], "select").offered.size() == 1);

  const std::string some = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    if (A[i] < 0) C[i] = -A[i];
  }
}
)";
  CHECK(tried(parser, some, "select").offered.empty());
}
