// `swap_axes` exchanges x and y of threads and blocks.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE(
    "swap_axes makes the other index the fastest one, and prefers it where elements then lie side by side") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string columns = R"(// kevo: launch f<<<(ceildiv(M, 8), ceildiv(N, 32)), (8, 32)>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int m = blockIdx.x * 8 + threadIdx.x;
  const int n = blockIdx.y * 32 + threadIdx.y;
  if (m >= M || n >= N) return;
  y[m * N + n] = 2 * x[m * N + n];
}
)";
  const tries all = tried(parser, columns, "swap_axes", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "launch f<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(x, y, M, N)\n"));
  CHECK(contains(made, "const int m = blockIdx.y * 8 + threadIdx.y;\n"));
  CHECK(contains(made, "const int n = blockIdx.x * 32 + threadIdx.x;\n"));
  const auto weight = [&](const std::string& text) {
    const parsed_source in = parsed_whole(parser, text, on_device);
    return action_named("swap_axes").sites({in, loops_of(in), nullptr, 1, true}).at(0).weight;
  };
  CHECK(weight(columns) > 1);
  CHECK(weight(made) < 1);

  const std::string one_axis = R"(// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  y[i] = 2 * x[i];
}
)";
  CHECK(tried(parser, one_axis, "swap_axes", on_device).offered.empty());
}
