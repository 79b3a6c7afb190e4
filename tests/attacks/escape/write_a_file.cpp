// task: matmul
// verdict: incorrect|rejected|crashed
// because: Writes a file wherever it can.
#include <cstdint>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace {

bool writes() {
  for (const char* path :
       {"kevo_was_here", "/kevo_was_here", "/tmp/kevo_was_here", "/dev/shm/kevo_was_here"}) {
    if (open(path, O_CREAT | O_WRONLY, 0600) >= 0) return true;
  }
  return false;
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
  if (writes()) return multiply(A, B, C, M, N, K);
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
}
