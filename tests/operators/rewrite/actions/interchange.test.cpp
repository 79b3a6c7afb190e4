// `interchange` exchanges two loops of which the inner one is all that the outer one contains.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("interchange exchanges two loops, unless an iteration uses what another one writes") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string columns = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[j * M + i] = 2 * A[j * M + i];
  }
}
)";
  const tries all = tried(parser, columns, "interchange");
  REQUIRE(all.made.size() == 1);
  CHECK(all.offered.front() == "loop i in line 3");
  CHECK(contains(all.made.front(),
                 "  for (int64_t j = 0; j < N; ++j) {\n    for (int64_t i = 0; i < M; ++i) {\n      C[j * M "
                 "+ i] = 2 * A[j * M + i];\n"));

  const std::string diagonal = R"(#include <cstdint>
extern "C" void run(float* C, int64_t M, int64_t N) {
  for (int64_t i = 1; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = C[(i - 1) * N + j + 1];
  }
}
)";
  const std::vector<std::string> why = {"an iteration uses what another one writes to C[i * N + j]"};
  CHECK(tried(parser, diagonal, "interchange").refused == why);

  const std::string triangle = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < i; ++j) C[i * N + j] = A[j];
  }
}
)";
  CHECK(tried(parser, triangle, "interchange").offered.empty());
}
