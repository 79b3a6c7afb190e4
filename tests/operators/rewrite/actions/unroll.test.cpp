// `unroll` tells the compiler how often to unroll an innermost loop.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("unroll puts a directive in front of an innermost loop that has none") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string rows = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = A[j];
  }
}
)";
  const tries all = tried(parser, rows, "unroll");
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(all.offered.front() == "loop j in line 4");
  CHECK(contains(made, "constexpr int unroll_j = 4;  // kevo: {1, 2, 4, 8}\n"));
  CHECK(contains(made, "    #pragma GCC unroll unroll_j\n    for (int64_t j = 0; j < N; ++j) {\n"));
  CHECK(tried(parser, made, "unroll").offered.empty());

  const std::string short_loop = R"(#include <cstdint>
extern "C" void run(const float* A, float* C) {
  for (int i = 0; i < 8; ++i) C[i] = A[i];
}
)";
  CHECK(tried(parser, short_loop, "unroll").offered.empty());

  const std::string device = R"(// kevo: launch f<<<1, 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  for (int i = threadIdx.x; i < N; i += 128) y[i] = x[i];
}
)";
  const tries on_gpu = tried(parser, device, "unroll", on_device);
  REQUIRE(on_gpu.made.size() == 1);
  CHECK(contains(on_gpu.made.front(),
                 "  #pragma unroll unroll_i\n  for (int i = threadIdx.x; i < N; i += 128) {\n"));
}
