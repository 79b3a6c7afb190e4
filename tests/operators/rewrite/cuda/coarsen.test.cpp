// `coarsen` gives one thread several indices.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("coarsen gives a thread several indices, if no thread returns early and the grid can shrink") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string two_axes = R"(// kevo: launch f<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int m = blockIdx.y * 8 + threadIdx.y;
  const int n = blockIdx.x * 32 + threadIdx.x;
  if (m < M && n < N) y[m * N + n] = 2 * x[m * N + n];
}
)";
  const tries all = tried(parser, two_axes, "coarsen", on_device);
  REQUIRE(all.made.size() == 2);
  CHECK(contains(all.made[0], "constexpr int copies_m = 4;  // kevo: {1, 2, 4, 8, 16}\n"));
  CHECK(contains(all.made[0],
                 "launch f<<<(ceildiv(N, 32), ceildiv(M, 8 * copies_m)), (32, 8)>>>(x, y, M, N)\n"));
  CHECK(contains(all.made[0], "const int m = blockIdx.y * (8 * copies_m) + threadIdx.y * copies_m;\n"));
  CHECK(contains(all.made[0], "    if ((m + m_copy) < M && n < N) {\n"));
  // Along the fastest axis, neighbouring threads keep neighbouring indices.
  CHECK(contains(all.made[1], "const int n = blockIdx.x * (32 * copies_n) + threadIdx.x;\n"));
  CHECK(contains(all.made[1], "    if (m < M && (n + n_copy * 32) < N) {\n"));
  CHECK(tried(parser, all.made[0], "coarsen", on_device).offered.size() == 1);

  const std::string returning = R"(// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  y[i] = 2 * x[i];
}
)";
  CHECK(tried(parser, returning, "coarsen", on_device).offered.empty());

  const std::string fixed_grid = R"(// kevo: launch f<<<16, 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
)";
  const std::vector<std::string> why = {"the grid is not a number of blocks"};
  CHECK(tried(parser, fixed_grid, "coarsen", on_device).refused == why);
}
