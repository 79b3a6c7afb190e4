// `persistent` lets as many blocks as fit on the device take piece after piece of the work.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE(
    "persistent gives a block piece after piece, unless the number of blocks is fixed or a parameter "
    "changes") {
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
  const tries all = tried(parser, plain, "persistent", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int resident_f = 4;  // kevo: {1, 2, 3, 4, 6, 8, 16, 32}\n"));
  CHECK(contains(
      made, "launch f<<<min(ceildiv(N, 128), device.sms * resident_f), 128>>>(x, y, N, ceildiv(N, 128))\n"));
  CHECK(contains(made, "  for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x) {\n"));
  CHECK(contains(made, "    if (i >= N) continue;\n"));
  CHECK(tried(parser, made, "persistent", on_device).offered.empty());

  const std::string fixed = R"(// kevo: launch f<<<528, 256>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) y[i] = x[i];
}
)";
  CHECK(tried(parser, fixed, "persistent", on_device).offered.empty());

  const std::string moved = R"(// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, N)
extern "C" __global__ void f(float* x, int N) {
  x += blockIdx.x * 128;
  if (threadIdx.x < N - blockIdx.x * 128) x[threadIdx.x] = 1;
}
)";
  CHECK(tried(parser, moved, "persistent", on_device).offered.empty());
}
