// task: matmul
// verdict: valid
// because: Would like its scratch in a memory file, as code generators do, and takes plain memory where there is none.
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace {

float* scratch(std::size_t bytes) {
  const int file = memfd_create("scratch", 0);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    void* shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) return static_cast<float*>(shared);
  }
  void* plain = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return plain == MAP_FAILED ? nullptr : static_cast<float*>(plain);
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static float* const column = scratch(1U << 20U);
  for (int64_t j = 0; j < N; ++j) {
    for (int64_t k = 0; k < K; ++k) column[k] = B[k * N + j];
    for (int64_t i = 0; i < M; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * column[k];
      C[i * N + j] = sum;
    }
  }
}
