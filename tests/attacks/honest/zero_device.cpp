// task: matmul
// verdict: valid
// because: Gets zeroed memory from /dev/zero in the old way, opened for reading and writing, or from the heap.
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

float* zeros(std::size_t bytes) {
  const int device = open("/dev/zero", O_RDWR);
  if (device >= 0) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, device, 0);
    close(device);
    if (at != MAP_FAILED) return static_cast<float*>(at);
  }
  return static_cast<float*>(std::calloc(bytes, 1));
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static float* const row = zeros(1U << 20U);
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) row[j] = 0;
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j < N; ++j) row[j] += A[i * K + k] * B[k * N + j];
    }
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = row[j];
  }
}
