// `peel` takes the first and the last iteration out of a loop that treats them specially.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("peel takes the first and the last iteration out of a loop, unless it may end early") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string borders = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    if (i == 0 || i == N - 1) {
      C[i] = A[i];
    } else {
      C[i] = A[i - 1] + A[i + 1];
    }
  }
}
)";
  const tries all = tried(parser, borders, "peel");
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "  if (0 < N) {\n    const int64_t i = 0;\n    C[i] = A[i];\n  }\n"));
  CHECK(
      contains(made, "  for (int64_t i = 0 + 1; i < N - 1; ++i) {\n    C[i] = A[i - 1] + A[i + 1];\n  }\n"));
  CHECK(contains(made, "  if (0 + 1 < N) {\n    const int64_t i = N - 1;\n    C[i] = A[i];\n  }\n"));
  CHECK(tried(parser, made, "peel").offered.empty());

  const std::string early = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    if (i == 0) C[i] = 1;
    if (A[i] < 0) break;
  }
}
)";
  const std::vector<std::string> why = {"the loop may end early"};
  CHECK(tried(parser, early, "peel").refused == why);
}
