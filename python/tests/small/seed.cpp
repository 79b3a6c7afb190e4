#include <cstdint>

extern "C" void run(const float* X, float* Y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) Y[i] = 2.0f * X[i];
}
