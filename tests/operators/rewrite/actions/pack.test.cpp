// `pack` copies what a loop reads into the order in which it reads it.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("pack copies an array before the loop that reads it, unless the place depends on data") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string columns = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t j = 0; j < N; ++j) {
    for (int64_t i = 0; i < M; ++i) C[j] += A[i * N + j];
  }
}
)";
  const tries all = tried(parser, columns, "pack");
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(all.offered.front() == "loop j in line 3");
  CHECK(contains(made,
                 "float* const A_packed = static_cast<float*>(__builtin_malloc(sizeof(float) * "
                 "static_cast<unsigned long>(N * M)));\n"));
  CHECK(contains(made, "A_packed[j * M + i] = A[i * N + j];\n"));
  CHECK(contains(made, "C[j] += A_packed[j * M + i];\n"));
  CHECK(contains(made, "__builtin_free(A_packed);\n"));

  const std::string gathered = R"(#include <cstdint>
extern "C" void run(const int64_t* X, const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t j = 0; j < N; ++j) {
    for (int64_t i = 0; i < M; ++i) C[j] += A[X[i] * N + j];
  }
}
)";
  CHECK(tried(parser, gathered, "pack").offered.empty());
}
