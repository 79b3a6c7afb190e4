// Y = 1.5 A X + 1.2 B X, by its definition.
#include <cstdint>

extern "C" void run(const float* A, const float* B, const float* X, float* Y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    float a = 0;
    Y[i] = 0;
    for (int64_t j = 0; j < N; ++j) {
      a = A[i * N + j] * X[j] + a;
      Y[i] = B[i * N + j] * X[j] + Y[i];
    }
    Y[i] = 1.5F * a + 1.2F * Y[i];
  }
}
