// `restrict` says that the arrays of a kernel do not overlap.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("restrict marks all pointers of a kernel once, in C++ and in CUDA") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string copy = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = A[i];
}
)";
  const tries all = tried(parser, copy, "restrict");
  REQUIRE(all.made.size() == 1);
  CHECK(contains(all.made.front(), "run(const float* __restrict A, float* __restrict C, int64_t N)"));
  CHECK(tried(parser, all.made.front(), "restrict").offered.empty());

  const std::string one_array = R"(#include <cstdint>
extern "C" void run(float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) C[i] = 1;
}
)";
  CHECK(tried(parser, one_array, "restrict").offered.empty());

  const std::string device = R"(// kevo: launch f<<<1, 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  for (int i = threadIdx.x; i < N; i += 128) y[i] = x[i];
}
)";
  const tries on_gpu = tried(parser, device, "restrict", on_device);
  REQUIRE(on_gpu.made.size() == 1);
  CHECK(contains(on_gpu.made.front(), "f(const float* __restrict x, float* __restrict y, int N)"));
}
