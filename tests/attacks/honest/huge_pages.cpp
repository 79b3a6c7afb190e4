// task: matmul
// verdict: valid
// because: Tries huge pages, locked memory and advice for its scratch, and goes on with what it gets.
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace {

constexpr std::size_t size = 4U << 20U;

float* scratch() {
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE,
                  -1, 0);
  if (at == MAP_FAILED) at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) at = std::aligned_alloc(4096, size);
  madvise(at, size, MADV_HUGEPAGE);
  mlock(at, size);
  return static_cast<float*>(at);
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static float* const turned = scratch();
  for (int64_t k = 0; k < K; ++k) {
    for (int64_t j = 0; j < N; ++j) turned[j * K + k] = B[k * N + j];
  }
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * turned[j * K + k];
      C[i * N + j] = sum;
    }
  }
}
