// `vectorize` runs iterations as the lanes of a vector of the compiler.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("vectorize runs iterations as lanes, with a loop for what is left over") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string products = R"(#include <cstdint>
extern "C" void run(const float* A, const float* B, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = A[i] * B[i];
}
)";
  const tries all = tried(parser, products, "vectorize");
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int lanes_i = 16;  // kevo: {4, 8, 16}\n"));
  CHECK(contains(made, "typedef float vector_i __attribute__((vector_size(lanes_i * 4)));\n"));
  CHECK(contains(made,
                 "  for (int64_t i = 0; i + lanes_i <= N; i += lanes_i) {\n    at_i(C[i]) = at_i(A[i]) * "
                 "at_i(B[i]);\n"));
  CHECK(contains(made, "  for (int64_t i = N / lanes_i * lanes_i; i < N; ++i) {\n    C[i] = A[i] * B[i];\n"));
  CHECK(tried(parser, made, "vectorize").offered.empty());

  const std::string prefix_sums = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 1; i < N; ++i) C[i] = C[i - 1] + A[i];
}
)";
  const std::vector<std::string> why = {"an iteration uses what another one writes to C[i]"};
  CHECK(tried(parser, prefix_sums, "vectorize").refused == why);

  const std::string mixed = R"(#include <cstdint>
extern "C" void run(const float* A, double* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = A[i];
}
)";
  CHECK(tried(parser, mixed, "vectorize").offered.empty());  // lanes of two sizes
}
