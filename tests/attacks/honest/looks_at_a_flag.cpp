// task: matmul
// verdict: valid
// because: The plain product, followed by a test that never holds. Programs with a test there are compared with
//   this one: on one processor (AMD EPYC) the plain product without it took 4 to 13 % longer, cause unknown.
#include <cstdint>
#include <cstdlib>

namespace {

const bool is_set = std::getenv("A_VARIABLE_THAT_NOBODY_SETS") != nullptr;

[[gnu::noinline]] void work(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  work(A, B, C, M, N, K);
  if (is_set) C[0] = 1e30F;
}
