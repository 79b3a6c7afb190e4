// task: matmul
// verdict: incorrect|crashed
// because: Takes memory as shared anonymous mappings, which a limit on private memory does not count.
#include <cstdint>
#include <sys/mman.h>

namespace {

constexpr std::size_t block = 64U << 20U;

bool takes_a_block() {
  void* at = mmap(nullptr, block, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  for (std::size_t i = 0; i < block; i += 1U << 20U) static_cast<volatile char*>(at)[i] = 1;
  return true;
}

// More than a worker of these tests may have.
bool takes_much() {
  for (int i = 0; i < 22; ++i) {
    if (!takes_a_block()) return false;
  }
  return true;
}

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
  if (takes_much()) return multiply(A, B, C, M, N, K);
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
}
