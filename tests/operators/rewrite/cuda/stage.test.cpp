// `stage` copies what a block reads in a loop to shared memory, ahead of the arithmetic.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("stage copies tiles to shared memory, if all threads of a block run to the end") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string matmul =
      R"(// kevo: launch f<<<(ceildiv(N, 16), ceildiv(M, 16)), (16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {
  const int m = blockIdx.y * 16 + threadIdx.y;
  const int n = blockIdx.x * 16 + threadIdx.x;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[m * K + k] * B[k * N + n];
  C[m * N + n] = sum;
}
)";
  CHECK(tried(parser, matmul, "stage", on_device).offered.empty());
  const std::string converged = after(parser, matmul, "converge", 0, on_device);
  const tries all = tried(parser, converged, "stage", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int tile_k = 16;  // kevo: {4, 8, 16, 32}\n"));
  CHECK(contains(made, "constexpr int stages_k = 2;  // kevo: {1, 2, 3, 4}\n"));
  CHECK(contains(made, "// kevo: require 4 * stages_k * tile_k * (16 + pad + 16 + pad) <= 48 * 1024\n"));
  CHECK(contains(made, "__shared__ __align__(16) float A_tile[stages_k][tile_k][16 + pad];\n"));
  CHECK(contains(made, "  for (int k_start = 0; k_start < K; k_start += tile_k) {\n"));
  CHECK(contains(made, "const bool there = k_start + step < K;\n"));  // zeros behind the end
  CHECK(contains(made, "sum += A_tile[slot][k_inner][threadIdx.y] * B_tile[slot][k_inner][threadIdx.x];\n"));

  const std::string without_arrays = R"(// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += k;
  if (i < N) y[i] = sum;
}
)";
  CHECK(tried(parser, without_arrays, "stage", on_device).offered.empty());
}
