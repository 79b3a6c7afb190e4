// `prefetch` asks for what a loop will read before it reads it.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("prefetch asks for elements that are some iterations ahead, where a loop reads in order") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string strided = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  float sum = 0;
  for (int64_t i = 0; i < N; ++i) sum += A[2 * i];
  C[0] = sum;
}
)";
  const tries all = tried(parser, strided, "prefetch");
  REQUIRE(all.made.size() == 1);
  CHECK(contains(all.made.front(), "constexpr int ahead_i = 32;  // kevo: {4, 8, 16, 32, 64, 128, 256}\n"));
  CHECK(contains(all.made.front(),
                 "  for (int64_t i = 0; i < N; ++i) {\n    __builtin_prefetch(A + (2 * (i + ahead_i)));"));
  CHECK(tried(parser, all.made.front(), "prefetch").offered.empty());

  const std::string writes_only = R"(#include <cstdint>
extern "C" void run(float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = 1;
}
)";
  CHECK(tried(parser, writes_only, "prefetch").offered.empty());

  const std::string one_element = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = A[0];
}
)";
  CHECK(tried(parser, one_element, "prefetch").offered.empty());
}
