// `approximate` replaces the library's exp by a polynomial, which vectors can compute.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("approximate replaces all exp of float once, and none of double") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string sums = R"(#include <cmath>
#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = std::exp(A[i]) + std::exp(-A[i]);
}
)";
  const tries all = tried(parser, sums, "approximate");
  REQUIRE(all.made.size() == 1);
  CHECK(contains(all.made.front(), "constexpr int exp_degree = 7;  // kevo: {5, 6, 7}\n"));
  CHECK(contains(all.made.front(), "C[i] = exp_by_polynomial(A[i]) + exp_by_polynomial(-A[i]);\n"));
  CHECK(tried(parser, all.made.front(), "approximate").offered.empty());

  const std::string wide = R"(#include <cmath>
#include <cstdint>
extern "C" void run(const double* A, double* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = std::exp(A[i]);
}
)";
  CHECK(tried(parser, wide, "approximate").offered.empty());
}
