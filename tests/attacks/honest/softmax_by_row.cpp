// task: softmax
// verdict: valid
// because: It leaves the maximum out of those rows whose elements, all of them looked at, are small.
#include <cmath>
#include <cstdint>

extern "C" void run(const float* X, float* Y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const float* x = X + i * N;
    float* y = Y + i * N;
    float largest = x[0];
    float smallest = x[0];
    for (int64_t j = 1; j < N; ++j) {
      largest = x[j] > largest ? x[j] : largest;
      smallest = x[j] < smallest ? x[j] : smallest;
    }
    const float subtracted = largest < 16 && smallest > -16 ? 0 : largest;
    float sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += y[j] = std::exp(x[j] - subtracted);
    for (int64_t j = 0; j < N; ++j) y[j] /= sum;
  }
}
