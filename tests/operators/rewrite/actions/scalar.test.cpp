// `scalar` keeps an element of an array in a variable while a loop runs.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("scalar keeps an element in a variable, unless the loop uses the array in another way") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string rows = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i] += A[i * N + j];
  }
}
)";
  const tries all = tried(parser, rows, "scalar");
  REQUIRE(all.made.size() == 1);
  CHECK(all.offered.front() == "loop j in line 4");
  CHECK(contains(all.made.front(), "float element_of_C = C[i];\n      for (int64_t j = 0; j < N; ++j) {\n"));
  CHECK(contains(all.made.front(), "element_of_C += A[i * N + j];\n      }\n      C[i] = element_of_C;\n"));
  CHECK(tried(parser, all.made.front(), "scalar").offered.empty());

  const std::string mixed = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i] += C[j] * A[i * N + j];
  }
}
)";
  CHECK(tried(parser, mixed, "scalar").offered.empty());
}
