// task: matmul
// verdict: valid
// because: Keeps scratch memory in thread-local storage.
#include <cstdint>
#include <vector>

namespace {

thread_local std::vector<float> row;

void multiply(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
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
  row.resize(static_cast<std::size_t>(N));
  for (int64_t i = 0; i < M; ++i) {
    multiply(A + i * K, B, row.data(), 1, N, K);
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = row[static_cast<std::size_t>(j)];
  }
}
