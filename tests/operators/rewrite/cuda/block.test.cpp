// `block` makes the size of a block tunable, in the kernel and in its launch line.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("block makes a literal size of the block tunable once, if it is a usual one") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string plain = R"(// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  y[i] = 2 * x[i];
}
)";
  const tries all = tried(parser, plain, "block", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int block_x = 128;  // kevo: {32, 64, 128, 256, 512, 1024}\n"));
  CHECK(contains(made, "launch f<<<ceildiv(N, block_x), block_x>>>(x, y, N)\n"));
  CHECK(contains(made, "const int i = blockIdx.x * block_x + threadIdx.x;\n"));
  CHECK(tried(parser, made, "block", on_device).offered.empty());

  const std::string two_axes = R"(// kevo: launch f<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 32 + threadIdx.x;
  const int m = blockIdx.y * 8 + threadIdx.y;
  if (m >= M || n >= N) return;
  y[m * N + n] = 8 * x[m * N + n];
}
)";
  const std::string both = after(parser, two_axes, "block", 0, on_device);
  CHECK(contains(both, "// kevo: require block_x * block_y <= 1024 && block_x * block_y >= 32\n"));
  CHECK(contains(both, "(ceildiv(N, block_x), ceildiv(M, block_y)), (block_x, block_y)"));
  CHECK(contains(both, "y[m * N + n] = 8 * x[m * N + n];\n"));  // not the size of the block
  std::string unusual = plain;
  for (std::size_t at = unusual.find("128"); at != std::string::npos; at = unusual.find("128"))
    unusual.replace(at, 3, "96");
  const std::vector<std::string> why = {"an unusual size"};
  CHECK(tried(parser, unusual, "block", on_device).refused == why);
}
