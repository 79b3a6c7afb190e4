// `launch_bounds` tells the compiler how many blocks a multiprocessor has to hold.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("launch_bounds states the number of threads and of blocks once") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string two_axes = R"(// kevo: launch f<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 32 + threadIdx.x;
  const int m = blockIdx.y * 8 + threadIdx.y;
  if (m >= M || n >= N) return;
  y[m * N + n] = 2 * x[m * N + n];
}
)";
  const tries all = tried(parser, two_axes, "launch_bounds", on_device);
  REQUIRE(all.made.size() == 1);
  CHECK(contains(all.made.front(), "constexpr int blocks_per_sm = 1;  // kevo: {1, 2, 3, 4, 6, 8}\n"));
  CHECK(contains(all.made.front(), "__global__ __launch_bounds__(32 * 8, blocks_per_sm) void f("));
  CHECK(tried(parser, all.made.front(), "launch_bounds", on_device).offered.empty());

  const std::string not_launched = R"(__global__ void f(const float* x, float* y, int N) {
  for (int i = threadIdx.x; i < N; i += 128) y[i] = x[i];
}
)";
  CHECK(tried(parser, not_launched, "launch_bounds", on_device).offered.empty());
}
