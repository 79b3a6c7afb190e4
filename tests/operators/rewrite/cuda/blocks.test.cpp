// `blocks` makes a literal number of blocks tunable.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("blocks makes a literal number of blocks tunable, but not one that depends on the workload") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string plain = R"(// kevo: launch f<<<528, 256>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) y[i] = x[i];
}
)";
  const tries all = tried(parser, plain, "blocks", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(
      contains(made, "constexpr int blocks_of_f = 528;  // kevo: {132, 264, 528, 1024, 1056, 2112, 4224}\n"));
  CHECK(contains(made, "// kevo: launch f<<<blocks_of_f, 256>>>(x, y, N)\n"));
  CHECK(tried(parser, made, "blocks", on_device).offered.empty());

  const std::string computed = R"(// kevo: launch f<<<ceildiv(N, 256), 256>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) y[i] = x[i];
}
)";
  CHECK(tried(parser, computed, "blocks", on_device).offered.empty());

  const std::string unusual = R"(// kevo: launch f<<<500, 256>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) y[i] = x[i];
}
)";
  const std::vector<std::string> why = {"an unusual number"};
  CHECK(tried(parser, unusual, "blocks", on_device).refused == why);
}
