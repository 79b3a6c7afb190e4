// Jacobi sweeps in tiles that overlap: a tile is read with a margin, swept several times in a small buffer
// while it is in cache, and its core is written back. More sweeps a pass save traffic and repeat the work of
// the margins.
#include <cstdint>
#include <cstdlib>

// kevo: begin tiles
#define TILE_ROWS 8      // kevo: {4, 8, 16, 32, 64, 128}
#define TILE_COLUMNS 32  // kevo: {32, 64, 128, 256, 384, 512, 1024}
#define SWEEPS 1         // kevo: {1, 2, 3, 4, 8}
// kevo: end tiles

// kevo: begin inner
#define LANES 2            // kevo: {2, 4, 8, 16}
constexpr int unroll = 1;  // kevo: {1, 2, 4}
#define PAIR_ROWS 0        // kevo: {0, 1}
// kevo: end inner

// kevo: begin buffers
#define KEEP_GRID 0  // kevo: {0, 1}
// kevo: end buffers

// Both halves of the small buffer stay within a second-level cache.
// kevo: require (TILE_ROWS + 2 * SWEEPS) * (TILE_COLUMNS + 2 * SWEEPS) <= 131072

namespace {

constexpr int64_t pitch = TILE_COLUMNS + 2 * SWEEPS;
constexpr int64_t height = TILE_ROWS + 2 * SWEEPS;

typedef float vector __attribute__((vector_size(LANES * 4)));
typedef float loose_vector
    __attribute__((vector_size(LANES * 4), aligned(4), may_alias));  // anywhere in memory

alignas(64) float small[2][height * pitch];

int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

inline void load(vector& to, const float* from) {
  to = *reinterpret_cast<const loose_vector*>(from);
}

// One row: `to[j]` from its four neighbours around `from[j]`, for j in [first, last).
void sweep_row(const float* __restrict from, int64_t from_pitch, float* __restrict to, int64_t first,
               int64_t last) {
  int64_t j = first;
#pragma GCC unroll unroll
  for (; j + LANES <= last; j += LANES) {
    vector up, down, left, right;
    load(up, from + j - from_pitch);
    load(down, from + j + from_pitch);
    load(left, from + j - 1);
    load(right, from + j + 1);
    *reinterpret_cast<loose_vector*>(to + j) = 0.25F * ((up + down) + (left + right));
  }
  for (; j < last; ++j) {
    to[j] = 0.25F * ((from[j - from_pitch] + from[j + from_pitch]) + (from[j - 1] + from[j + 1]));
  }
}

// Two rows at once share the loads of each other's middle row.
void sweep_two_rows(const float* __restrict from, int64_t from_pitch, float* __restrict to, int64_t to_pitch,
                    int64_t first, int64_t last) {
  int64_t j = first;
#pragma GCC unroll unroll
  for (; j + LANES <= last; j += LANES) {
    vector row0, row1, row2, row3, left, right;
    load(row0, from + j - from_pitch);
    load(row1, from + j);
    load(row2, from + j + from_pitch);
    load(row3, from + j + 2 * from_pitch);
    load(left, from + j - 1);
    load(right, from + j + 1);
    *reinterpret_cast<loose_vector*>(to + j) = 0.25F * ((row0 + row2) + (left + right));
    load(left, from + j + from_pitch - 1);
    load(right, from + j + from_pitch + 1);
    *reinterpret_cast<loose_vector*>(to + to_pitch + j) = 0.25F * ((row1 + row3) + (left + right));
  }
  if (j < last) {
    sweep_row(from, from_pitch, to, j, last);
    sweep_row(from + from_pitch, from_pitch, to + to_pitch, j, last);
  }
}

void sweep_rows(const float* from, int64_t from_pitch, float* to, int64_t to_pitch, int64_t rows,
                int64_t first, int64_t last) {
  int64_t i = 0;
  for (; PAIR_ROWS != 0 && i + 2 <= rows; i += 2) {
    sweep_two_rows(from + i * from_pitch, from_pitch, to + i * to_pitch, to_pitch, first, last);
  }
  for (; i < rows; ++i) sweep_row(from + i * from_pitch, from_pitch, to + i * to_pitch, first, last);
}

void copy_row(const float* __restrict from, float* __restrict to, int64_t count) {
  for (int64_t j = 0; j < count; ++j) to[j] = from[j];
}

// The core [i0, i1) x [j0, j1) of `to` after `count` sweeps of `from`.
void tile(const float* from, float* to, int64_t H, int64_t W, int64_t count, int64_t i0, int64_t i1,
          int64_t j0, int64_t j1) {
  // What the core depends on, cut at the grid: rows [a, b), columns [l, r).
  const int64_t a = most(i0 - count, 0);
  const int64_t b = least(i1 + count, H);
  const int64_t l = most(j0 - count, 0);
  const int64_t r = least(j1 + count, W);
  const float* source = from + a * W + l;
  int64_t source_pitch = W;
  for (int64_t s = 1; s <= count; ++s) {
    float* const target = small[s % 2];
    // After sweep s the points at least s away from a cut that is not the grid's border are known.
    const int64_t top = a == 0 ? 0 : a + s;
    const int64_t bottom = b == H ? H : b - s;
    const int64_t left = l == 0 ? 0 : l + s;
    const int64_t right = r == W ? W : r - s;
    const int64_t first_row = most(top, 1);
    const int64_t last_row = least(bottom, H - 1);
    const int64_t first = most(left, 1);
    const int64_t last = least(right, W - 1);
    if (last_row > first_row) {
      sweep_rows(source + (first_row - a) * source_pitch, source_pitch, target + (first_row - a) * pitch,
                 pitch, last_row - first_row, first - l, last - l);
    }
    for (int64_t i = top; i < bottom; ++i) {
      const float* const old = source + (i - a) * source_pitch;
      float* const now = target + (i - a) * pitch;
      if (i == 0 || i == H - 1) {
        copy_row(old + (left - l), now + (left - l), right - left);
      } else {
        if (left == 0) now[0] = old[0];
        if (right == W) now[W - 1 - l] = old[W - 1 - l];
      }
    }
    source = target;
    source_pitch = pitch;
  }
  for (int64_t i = i0; i < i1; ++i)
    copy_row(source + (i - a) * source_pitch + (j0 - l), to + i * W + j0, j1 - j0);
}

void pass(const float* from, float* to, int64_t H, int64_t W, int64_t count) {
  for (int64_t i = 0; i < H; i += TILE_ROWS) {
    for (int64_t j = 0; j < W; j += TILE_COLUMNS) {
      tile(from, to, H, W, count, i, least(i + TILE_ROWS, H), j, least(j + TILE_COLUMNS, W));
    }
  }
}

// A grid between passes. Kept from call to call, its pages need not be made again.
float* kept = nullptr;
int64_t kept_size = 0;

float* spare_grid(int64_t size) {
  if (KEEP_GRID == 0) return static_cast<float*>(std::malloc(static_cast<std::size_t>(size) * sizeof(float)));
  if (kept_size < size) {
    std::free(kept);
    kept = static_cast<float*>(std::malloc(static_cast<std::size_t>(size) * sizeof(float)));
    kept_size = size;
  }
  return kept;
}

}  // namespace

extern "C" void run(const float* X, float* Y, int64_t H, int64_t W, int64_t T) {
  const int64_t passes = most((T + SWEEPS - 1) / SWEEPS, 1);
  float* const spare = passes > 1 ? spare_grid(H * W) : nullptr;
  // Passes alternate between the spare grid and Y so that the last one ends in Y.
  const float* from = X;
  int64_t left = T;
  for (int64_t p = passes; p > 0; --p) {
    float* const to = p % 2 == 1 ? Y : spare;
    const int64_t count = least(left, SWEEPS);
    pass(from, to, H, W, count);
    left -= count;
    from = to;
  }
  if (KEEP_GRID == 0) std::free(spare);
}
