// `converge` lets all threads of a block run to the end.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("converge turns an early return into guarded writes, unless threads wait for each other") {
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
  const tries all = tried(parser, plain, "converge", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK_FALSE(contains(made, "if (i >= N) return;"));
  CHECK(contains(made, "__device__ __forceinline__ I inside(I i, N end) {"));
  CHECK(contains(made, "  if (i < N) y[i] = 2 * x[inside(i, N)];\n"));
  CHECK(tried(parser, made, "converge", on_device).offered.empty());

  const std::string waiting = R"(// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  __syncthreads();
  y[i] = 2 * x[i];
}
)";
  const std::vector<std::string> why = {"the kernel does what is not understood"};
  CHECK(tried(parser, waiting, "converge", on_device).refused == why);

  const std::string early = R"(// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float value = x[i];
  if (i >= N) return;
  y[i] = value;
}
)";
  const std::vector<std::string> too_early = {"an index is used before it is tested"};
  CHECK(tried(parser, early, "converge", on_device).refused == too_early);
}
