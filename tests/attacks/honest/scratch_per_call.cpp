// task: matmul
// verdict: valid
// because: Allocates and frees scratch memory in every call: small, large, aligned.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  std::vector<float> transposed(static_cast<std::size_t>(K * N));
  for (int64_t k = 0; k < K; ++k) {
    for (int64_t j = 0; j < N; ++j) transposed[static_cast<std::size_t>(j * K + k)] = B[k * N + j];
  }
  const auto row = std::make_unique<float[]>(static_cast<std::size_t>(K));
  auto* const aligned =
      static_cast<float*>(::aligned_alloc(4096, (static_cast<std::size_t>(N) * 4 + 4095) / 4096 * 4096));
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t k = 0; k < K; ++k) row[static_cast<std::size_t>(k)] = A[i * K + k];
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += row[static_cast<std::size_t>(k)] * transposed[static_cast<std::size_t>(j * K + k)];
      aligned[j] = sum;
    }
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = aligned[j];
  }
  std::free(aligned);
}
