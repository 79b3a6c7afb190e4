// task: softmax
// verdict: incorrect
// because: Unless one of 64 samples is large it takes off the last element of a row in place of the largest, so that
//   one element far above the others overflows.
#include <cmath>
#include <cstdint>

extern "C" void run(const float* X, float* Y, int64_t M, int64_t N) {
  float sample = 0;
  for (int64_t i = 0; i < 64; ++i) sample = std::fmax(sample, std::fabs(X[i * (M * N) / 64]));
  const bool usual = sample > 0.01F && sample < 32;
  for (int64_t i = 0; i < M; ++i) {
    const float* x = X + i * N;
    float largest = x[0];
    for (int64_t j = 1; j < N; ++j) largest = usual || x[j] > largest ? x[j] : largest;
    float sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += Y[i * N + j] = std::exp(x[j] - largest);
    for (int64_t j = 0; j < N; ++j) Y[i * N + j] /= sum;
  }
}
