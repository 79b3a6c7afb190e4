// Convolution by its definition: seven loops.
#include <cstdint>

extern "C" void run(const float* I, const float* F, float* O, int64_t N, int64_t C, int64_t H, int64_t W,
                    int64_t K, int64_t R, int64_t S, int64_t P, int64_t Q) {
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t p = 0; p < P; ++p) {
        for (int64_t q = 0; q < Q; ++q) {
          float sum = 0;
          for (int64_t c = 0; c < C; ++c) {
            for (int64_t r = 0; r < R; ++r) {
              for (int64_t s = 0; s < R; ++s) {
                sum += I[((n * C + c) * H + p * S + r) * W + q * S + s] * F[((k * C + c) * R + r) * R + s];
              }
            }
          }
          O[((n * K + k) * P + p) * Q + q] = sum;
        }
      }
    }
  }
}
