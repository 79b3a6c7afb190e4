// `cooperate` shares the loops of one thread among a block of threads.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("cooperate shares the iterations of a sum, but not of a recurrence or of rows without a number") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string rows = R"(// kevo: launch f<<<ceildiv(M, 128), 128>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int m = blockIdx.x * 128 + threadIdx.x;
  if (m >= M) return;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += x[m * N + n];
  y[m] = sum;
}
)";
  const tries all = tried(parser, rows, "cooperate", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int threads_of_f = 512;  // kevo: {32, 64, 128, 256, 512, 1024}\n"));
  CHECK(contains(made, "// kevo: launch f<<<M, threads_of_f>>>(x, y, M, N)\n"));
  CHECK(contains(made, "const int m = blockIdx.x;\n"));
  CHECK(contains(made,
                 "  for (int n = threadIdx.x; n < N; n += threads_of_f) {\n    sum_part += x[m * N + n];\n"));
  CHECK(contains(made, "  sum += all_of_sum(sum_part);\n  if (threadIdx.x == 0) y[m] = sum;\n"));
  CHECK(tried(parser, made, "cooperate", on_device).offered.empty());

  const std::string recurrence = R"(// kevo: launch f<<<ceildiv(M, 128), 128>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int m = blockIdx.x * 128 + threadIdx.x;
  if (m >= M) return;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum = 0.5f * sum + x[m * N + n];
  y[m] = sum;
}
)";
  CHECK(tried(parser, recurrence, "cooperate", on_device).offered.empty());

  const std::string unknown_rows = R"(// kevo: launch f<<<ceildiv(M, 128), 128>>>(x, y, M, N)
extern "C" __global__ void f(const float* x, float* y, int M, int N) {
  const int m = blockIdx.x * 128 + threadIdx.x;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += x[m * N + n];
  y[m] = sum;
}
)";
  const std::vector<std::string> why = {"the number of rows is not known"};
  CHECK(tried(parser, unknown_rows, "cooperate", on_device).refused == why);
}
