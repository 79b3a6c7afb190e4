// task: softmax
// verdict: incorrect
// because: The exponential of an element that is masked by -inf is NaN: what is left of it behind its whole powers
//   of two is -inf less -inf.
#include <cmath>
#include <cstdint>

namespace {

float exponential(float x) {
  const float t = x * 1.44269504F;
  const float whole = std::floor(t);
  return std::ldexp(std::exp2(t - whole), static_cast<int>(whole));
}

}  // namespace

extern "C" void run(const float* X, float* Y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const float* x = X + i * N;
    float largest = x[0];
    for (int64_t j = 1; j < N; ++j) largest = x[j] > largest ? x[j] : largest;
    float sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += Y[i * N + j] = exponential(x[j] - largest);
    for (int64_t j = 0; j < N; ++j) Y[i * N + j] /= sum;
  }
}
