// Convolution in float64, of (I, F) and of (|I|, |F|) at once. The innermost loop runs along an output row.
#include <cmath>
#include <cstdint>

extern "C" void reference(const double* I, const double* F, double* O, double* O_abs, int64_t N, int64_t C,
                          int64_t H, int64_t W, int64_t K, int64_t R, int64_t S, int64_t P, int64_t Q) {
  for (int64_t i = 0; i < N * K * P * Q; ++i) {
    O[i] = 0;
    O_abs[i] = 0;
  }
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t c = 0; c < C; ++c) {
        for (int64_t p = 0; p < P; ++p) {
          double* __restrict out = O + ((n * K + k) * P + p) * Q;
          double* __restrict scale = O_abs + ((n * K + k) * P + p) * Q;
          for (int64_t r = 0; r < R; ++r) {
            const double* __restrict in = I + ((n * C + c) * H + p * S + r) * W;
            for (int64_t s = 0; s < R; ++s) {
              const double weight = F[((k * C + c) * R + r) * R + s];
              for (int64_t q = 0; q < Q; ++q) {
                const double term = weight * in[q * S + s];
                out[q] += term;
                scale[q] += std::fabs(term);
              }
            }
          }
        }
      }
    }
  }
}
