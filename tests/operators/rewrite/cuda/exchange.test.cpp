// `exchange` reads and writes in different orders through a tile in shared memory.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("exchange moves a tile through shared memory where reads and writes have different orders") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string transposed =
      R"(// kevo: launch f<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 32 + threadIdx.x;
  const int m = blockIdx.y * 8 + threadIdx.y;
  if (m >= M || n >= N) return;
  y[n * M + m] = x[m * N + n];
}
)";
  const tries all = tried(parser, transposed, "exchange", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int tile_n = 64;  // kevo: {16, 32, 64, 128}\n"));
  CHECK(contains(made, "launch f<<<ceildiv(M, tile_m) * ceildiv(N, tile_n), threads_of_f>>>(x, y, M, N)\n"));
  CHECK(contains(made, "  __shared__ float tile[tile_m][tile_n + pad];\n"));
  CHECK(contains(made, "if (m < M && n < N) tile[slow][fast] = x[m * N + n];\n"));
  CHECK(contains(made, "  __syncthreads();\n"));
  CHECK(contains(made, "if (m < M && n < N) y[n * M + m] = tile[fast][slow];\n"));
  CHECK(tried(parser, made, "exchange", on_device).offered.empty());

  const std::string same_order =
      R"(// kevo: launch f<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 32 + threadIdx.x;
  const int m = blockIdx.y * 8 + threadIdx.y;
  if (m >= M || n >= N) return;
  y[m * N + n] = x[m * N + n];
}
)";
  CHECK(tried(parser, same_order, "exchange", on_device).offered.empty());
}
