// task: matmul
// verdict: valid
// because: Writes a small machine program into memory, makes it executable and calls it, as code generators do.
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace {

using product_function = float (*)(float, float);

[[maybe_unused]] float product(float a, float b) {
  return a * b;
}

product_function generated() {
#if defined(__x86_64__)
  constexpr unsigned char code[] = {0xf3, 0x0f, 0x59, 0xc1, 0xc3};  // mulss xmm0, xmm1; ret
  void* at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return product;
  std::memcpy(at, code, sizeof code);
  if (mprotect(at, 4096, PROT_READ | PROT_EXEC) != 0) return product;
  return reinterpret_cast<product_function>(at);
#else
  return product;
#endif
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static const product_function times = generated();
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += times(A[i * K + k], B[k * N + j]);
      C[i * N + j] = sum;
    }
  }
}
