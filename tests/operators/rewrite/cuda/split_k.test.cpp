// `split_k` shares a sum among blocks, whose parts a second kernel adds.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("split_k shares a sum among blocks, if the task has the array and the sum is stored as it is") {
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
  kevo::task matrices;
  matrices.outputs.push_back({.name = "C", .shape = {"M", "N"}, .dtype = "float32"});
  const setting with{&matrices, 1, true};
  const tries all = tried(parser, matmul, "split_k", with);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int parts_k = 4;  // kevo: {1, 2, 4, 8, 16}\n"));
  CHECK(contains(made, "// kevo: workspace partial_C float32 [parts_k, M, N]\n"));
  CHECK(contains(made,
                 "launch f<<<(ceildiv(N, 16), ceildiv(M, 16), parts_k), (16, 16)>>>(A, B, partial_C, M, N, "
                 "K, ceildiv(K, parts_k), M * N)\n"));
  CHECK(contains(made, "launch add_parts_of_C<<<ceildiv(M * N, 256), 256>>>(partial_C, C, M * N)\n"));
  CHECK(contains(made,
                 "for (int k = 0; k < min(share_of_k, K - static_cast<int>(blockIdx.z) * share_of_k); ++k)"));
  CHECK(contains(made, "C[blockIdx.z * elements_of_C + m * N + n] = sum;\n"));
  CHECK(tried(parser, made, "split_k", with).offered.empty());
  CHECK(tried(parser, matmul, "split_k", on_device).offered.empty());  // nothing known of C

  const std::string square =
      R"(// kevo: launch f<<<(ceildiv(N, 16), ceildiv(M, 16)), (16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {
  const int m = blockIdx.y * 16 + threadIdx.y;
  const int n = blockIdx.x * 16 + threadIdx.x;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[m * K + k] * B[k * N + n];
  C[m * N + n] = sum * sum;
}
)";
  CHECK(tried(parser, square, "split_k", with).offered.empty());
}
