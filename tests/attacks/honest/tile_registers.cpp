// task: matmul
// verdict: valid
// because: Asks for the tile registers (AMX) and multiplies bfloat16 parts whose sum is the float; without them a plain loop.
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

void multiply(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}

#if defined(__x86_64__) && defined(__AMX_BF16__)
constexpr int parts = 3;  // of 8 bits each: a float has 24

struct tile_shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_a_row[16] = {64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16};
};

bool have_tiles() {
  constexpr int request_permission = 0x1023;
  constexpr int tile_data = 18;
  static const bool have = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return have;
}

std::uint16_t high_bits(float x) {
  std::uint32_t word;
  std::memcpy(&word, &x, sizeof word);
  return static_cast<std::uint16_t>(word >> 16U);
}

// Writes the parts of `x`, which are exact.
void split(float x, std::uint16_t* out, std::size_t stride) {
  for (int p = 0; p < parts; ++p) {
    const std::uint16_t part = high_bits(x);
    const std::uint32_t word = static_cast<std::uint32_t>(part) << 16U;
    float value;
    std::memcpy(&value, &word, sizeof value);
    x -= value;
    out[static_cast<std::size_t>(p) * stride] = part;
  }
}

void block(const float* A, const float* B, float* C, int64_t i0, int64_t j0, int64_t M, int64_t N, int64_t K) {
  alignas(64) std::uint16_t a[parts][16][32];
  alignas(64) std::uint16_t b[parts][16][32];
  alignas(64) float c[16][16];
  _tile_zero(0);
  for (int64_t k0 = 0; k0 < K; k0 += 32) {
    for (int64_t i = 0; i < 16; ++i) {
      for (int64_t k = 0; k < 32; ++k) {
        const bool inside = i0 + i < M && k0 + k < K;
        split(inside ? A[(i0 + i) * K + k0 + k] : 0, &a[0][i][k], 16 * 32);
      }
    }
    for (int64_t k = 0; k < 32; ++k) {
      for (int64_t j = 0; j < 16; ++j) {
        const bool inside = j0 + j < N && k0 + k < K;
        split(inside ? B[(k0 + k) * N + j0 + j] : 0, &b[0][k / 2][2 * j + k % 2], 16 * 32);
      }
    }
    for (int p = parts - 1; p >= 0; --p) {
      for (int q = parts - 1; q >= 0; --q) {
        if (p + q > parts) continue;
        _tile_loadd(1, a[p], 64);
        _tile_loadd(2, b[q], 64);
        _tile_dpbf16ps(0, 1, 2);
      }
    }
  }
  _tile_stored(0, c, 64);
  for (int64_t i = i0; i < i0 + 16 && i < M; ++i) {
    for (int64_t j = j0; j < j0 + 16 && j < N; ++j) C[i * N + j] = c[i - i0][j - j0];
  }
}

bool multiply_with_tiles(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  if (!have_tiles()) return false;
  const tile_shapes shapes;
  _tile_loadconfig(&shapes);
  for (int64_t i = 0; i < M; i += 16) {
    for (int64_t j = 0; j < N; j += 16) block(A, B, C, i, j, M, N, K);
  }
  _tile_release();
  return true;
}
#else
bool multiply_with_tiles(const float*, const float*, float*, int64_t, int64_t, int64_t) {
  return false;
}
#endif

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  if (!multiply_with_tiles(A, B, C, M, N, K)) multiply(A, B, C, M, N, K);
}
