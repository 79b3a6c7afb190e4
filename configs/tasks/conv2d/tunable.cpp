// Convolution as a product without im2col: vectors run along output channels, so any stride and filter will
// do. A micro-kernel keeps PIXELS x (CHANNEL_VECTORS * LANES) sums in registers; filters are packed
// channel-last first.
#include <cstdint>
#include <cstdlib>

// kevo: begin registers
#define LANES 2            // kevo: {2, 4, 8, 16}
#define CHANNEL_VECTORS 1  // kevo: {1, 2, 3, 4}
#define PIXELS 1           // kevo: {1, 2, 3, 4, 5, 6, 8, 10, 12}
constexpr int unroll = 1;  // kevo: {1, 2, 3, 5}
// kevo: end registers

// kevo: begin order
#define CHANNELS_OUTSIDE 1  // kevo: {0, 1}
#define PIXEL_BLOCK 16      // kevo: {16, 32, 64, 128, 256, 1024}
// kevo: end order

// kevo: begin buffers
#define KEEP_FILTERS 0  // kevo: {0, 1}
// kevo: end buffers

// kevo: require (PIXELS + 1) * CHANNEL_VECTORS + 1 <= 32

namespace {

constexpr int64_t group = CHANNEL_VECTORS * LANES;  // output channels of a micro-kernel

typedef float vector __attribute__((vector_size(LANES * 4)));
typedef float loose_vector
    __attribute__((vector_size(LANES * 4), aligned(4), may_alias));  // anywhere in memory

struct shape {
  int64_t C, H, W, K, R, S, P, Q;
};

// Filters of `group` output channels together, [group of k][c][r][s][k in group]; missing channels are zeros.
void pack(const float* F, const shape& z, float* __restrict out) {
  const int64_t taps = z.C * z.R * z.R;
  for (int64_t k = 0; k < z.K; k += group) {
    for (int64_t t = 0; t < taps; ++t) {
      for (int64_t g = 0; g < group; ++g) *out++ = k + g < z.K ? F[(k + g) * taps + t] : 0.0F;
    }
  }
}

// Sums of PIXELS pixels of one image, whose windows start at `at`, for one group of output channels.
void micro_kernel(const float* const (&at)[PIXELS], const float* __restrict filters, const shape& z,
                  float (&tile)[PIXELS][group]) {
  vector sum[PIXELS][CHANNEL_VECTORS];
#pragma GCC unroll 12
  for (int i = 0; i < PIXELS; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < CHANNEL_VECTORS; ++j) sum[i][j] = vector{};
  }
  for (int64_t c = 0; c < z.C; ++c) {
    for (int64_t r = 0; r < z.R; ++r) {
      const int64_t offset = (c * z.H + r) * z.W;
#pragma GCC unroll unroll
      for (int64_t s = 0; s < z.R; ++s) {
        vector weight[CHANNEL_VECTORS];
#pragma GCC unroll 4
        for (int j = 0; j < CHANNEL_VECTORS; ++j) {
          weight[j] = *reinterpret_cast<const loose_vector*>(filters + j * LANES);
        }
        filters += group;
#pragma GCC unroll 12
        for (int i = 0; i < PIXELS; ++i) {
          const float value = at[i][offset + s];
#pragma GCC unroll 4
          for (int j = 0; j < CHANNEL_VECTORS; ++j) sum[i][j] += value * weight[j];
        }
      }
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < PIXELS; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < CHANNEL_VECTORS; ++j)
      *reinterpret_cast<loose_vector*>(&tile[i][j * LANES]) = sum[i][j];
  }
}

// Output pixels [first, last) of one image (rows joined), output channels [k, k + group).
void part(const float* image, const float* filters, float* out, const shape& z, int64_t k, int64_t first,
          int64_t last) {
  const int64_t channels = z.K - k < group ? z.K - k : group;
  for (int64_t pixel = first; pixel < last; pixel += PIXELS) {
    const int64_t count = last - pixel < PIXELS ? last - pixel : PIXELS;
    const float* at[PIXELS];
    for (int64_t i = 0; i < PIXELS; ++i) {
      const int64_t p = pixel + (i < count ? i : 0);  // pixels that are not there repeat the first one
      at[i] = image + p / z.Q * z.S * z.W + p % z.Q * z.S;
    }
    float tile[PIXELS][group];
    micro_kernel(at, filters, z, tile);
    for (int64_t g = 0; g < channels; ++g) {
      float* const row = out + (k + g) * z.P * z.Q + pixel;
      for (int64_t i = 0; i < count; ++i) row[i] = tile[i][g];
    }
  }
}

void convolve(const float* image, const float* packed, float* out, const shape& z) {
  const int64_t pixels = z.P * z.Q;
  const int64_t panel = z.C * z.R * z.R;  // times `group`: floats of a packed group
  if (CHANNELS_OUTSIDE != 0) {
    for (int64_t k = 0; k < z.K; k += group) {
      for (int64_t first = 0; first < pixels; first += PIXEL_BLOCK) {
        const int64_t last = first + PIXEL_BLOCK < pixels ? first + PIXEL_BLOCK : pixels;
        part(image, packed + k * panel, out, z, k, first, last);
      }
    }
  } else {
    for (int64_t first = 0; first < pixels; first += PIXEL_BLOCK) {
      const int64_t last = first + PIXEL_BLOCK < pixels ? first + PIXEL_BLOCK : pixels;
      for (int64_t k = 0; k < z.K; k += group) part(image, packed + k * panel, out, z, k, first, last);
    }
  }
}

// Room for the packed filters. Kept from call to call, its pages need not be made again.
float* kept = nullptr;
int64_t kept_size = 0;

float* room(int64_t size) {
  if (KEEP_FILTERS == 0)
    return static_cast<float*>(std::malloc(static_cast<std::size_t>(size) * sizeof(float)));
  if (kept_size < size) {
    std::free(kept);
    kept = static_cast<float*>(std::malloc(static_cast<std::size_t>(size) * sizeof(float)));
    kept_size = size;
  }
  return kept;
}

}  // namespace

extern "C" void run(const float* I, const float* F, float* O, int64_t N, int64_t C, int64_t H, int64_t W,
                    int64_t K, int64_t R, int64_t S, int64_t P, int64_t Q) {
  const shape z{C, H, W, K, R, S, P, Q};
  float* const packed = room((K + group - 1) / group * group * C * R * R);
  pack(F, z, packed);
  for (int64_t n = 0; n < N; ++n) convolve(I + n * C * H * W, packed, O + n * K * P * Q, z);
  if (KEEP_FILTERS == 0) std::free(packed);
}
