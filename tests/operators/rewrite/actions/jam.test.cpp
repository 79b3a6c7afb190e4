// `jam` runs several iterations of an outer loop together.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("jam runs iterations of an outer loop together, with a loop for what is left over") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string rows = R"(#include <cstdint>
extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += A[i * N + j] * B[j];
    C[i] = sum;
  }
}
)";
  const tries all = tried(parser, rows, "jam");
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int copies_i = 6;  // kevo: {1, 2, 3, 4, 5, 6, 8, 10, 12, 16}\n"));
  CHECK(contains(made,
                 "  for (int64_t i = 0; i + copies_i <= M; i += copies_i) {\n    float sum[copies_i];\n"));
  CHECK(contains(made, "sum[i_copy] += A[(i + i_copy) * N + j] * B[j];\n"));
  CHECK(contains(made, "  for (int64_t i = M / copies_i * copies_i; i < M; ++i) {\n    float sum = 0;\n"));
  CHECK(tried(parser, made, "jam").offered.empty());

  const std::string downwards = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 1; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = C[(i - 1) * N + j] + A[j];
  }
}
)";
  const std::vector<std::string> why = {"an iteration uses what another one writes to C[i * N + j]"};
  CHECK(tried(parser, downwards, "jam").refused == why);
}
