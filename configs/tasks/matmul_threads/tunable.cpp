// A blocked, packed, register-tiled product on all threads whose every choice is a tunable. As written it is
// plain and slow.
//
// The threads of OpenMP share out blocks of BM x BN elements of C. A thread computes its block alone, over depth
// slices of BK. Inside a block, a micro-kernel keeps a tile of ROWS x (COLUMN_VECTORS * LANES) sums in registers
// and walks the depth slice once.
#include <cstdint>

// kevo: begin blocking
#define BM 32                 // kevo: {8, 16, 32, 48, 64, 96, 128, 192}
#define BN 64                 // kevo: {64, 96, 128, 192, 256, 384, 768}
#define BK 32                 // kevo: {16, 32, 64, 96, 128, 192, 256, 384}
// kevo: end blocking

// kevo: begin threads
#define SHARING static        // kevo: {static, dynamic, guided}
#define ROW_BLOCKS_OUTSIDE 1  // kevo: {0, 1}
// kevo: end threads

// kevo: begin registers
#define LANES 2            // kevo: {2, 4, 8, 16}
#define ROWS 1             // kevo: {1, 2, 3, 4, 5, 6, 8, 10, 12, 14}
#define COLUMN_VECTORS 1   // kevo: {1, 2, 3, 4}
constexpr int unroll = 1;  // kevo: {1, 2, 4, 8}
// kevo: end registers

// kevo: begin memory
#define PACK_A 0    // kevo: {0, 1}
#define PACK_B 0    // kevo: {0, 1}
#define PREFETCH 0  // kevo: {0, 4, 8, 16}
// kevo: end memory

// Sums and operands live in registers, at most 32 of them.
// kevo: require ROWS * COLUMN_VECTORS + COLUMN_VECTORS + 1 <= 32
// kevo: require BN >= COLUMN_VECTORS * LANES
// The packed slices stay within a second-level cache.
// kevo: require BK * BN <= 98304
// kevo: require BM * BK <= 49152

namespace {

constexpr int64_t columns = COLUMN_VECTORS * LANES;
constexpr int64_t round_up(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

typedef float vector __attribute__((vector_size(LANES * 4)));
typedef float loose_vector
    __attribute__((vector_size(LANES * 4), aligned(4), may_alias));  // anywhere in memory

// Of each thread.
alignas(64) thread_local float packed_a[round_up(BM, ROWS) * BK];
alignas(64) thread_local float packed_b[round_up(BN, columns) * BK];

// Sums of one register tile over `depth`. Row i of A is at a + i * a_row, its next element a_step further;
// rows of B are b_row apart. The tile of C gets what lies within `rows` x `width`.
inline void micro_kernel(int64_t depth, const float* __restrict a, const int64_t (&a_row)[ROWS],
                         int64_t a_step, const float* __restrict b, int64_t b_row, float* __restrict c,
                         int64_t c_row, int64_t rows, int64_t width, bool accumulate) {
  vector sum[ROWS][COLUMN_VECTORS];
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < COLUMN_VECTORS; ++j) sum[i][j] = vector{};
  }
#pragma GCC unroll unroll
  for (int64_t k = 0; k < depth; ++k) {
    vector right[COLUMN_VECTORS];
#pragma GCC unroll 4
    for (int j = 0; j < COLUMN_VECTORS; ++j)
      right[j] = *reinterpret_cast<const loose_vector*>(b + k * b_row + j * LANES);
    if (PREFETCH > 0) {  // an address only: it may lie behind the end of B
      __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(b) +
                                                       static_cast<uintptr_t>((k + PREFETCH) * b_row) * 4));
    }
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; ++i) {
      const float left = a[a_row[i] + k * a_step];
#pragma GCC unroll 4
      for (int j = 0; j < COLUMN_VECTORS; ++j) sum[i][j] += left * right[j];
    }
  }
  if (rows == ROWS && width == columns) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < COLUMN_VECTORS; ++j) {
        loose_vector* const target = reinterpret_cast<loose_vector*>(c + i * c_row + j * LANES);
        if (accumulate) {
          *target += sum[i][j];
        } else {
          *target = sum[i][j];
        }
      }
    }
    return;
  }
  float tile[ROWS][columns];
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < COLUMN_VECTORS; ++j)
      *reinterpret_cast<loose_vector*>(&tile[i][j * LANES]) = sum[i][j];
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < width; ++j)
      c[i * c_row + j] = accumulate ? c[i * c_row + j] + tile[i][j] : tile[i][j];
  }
}

// Panels of ROWS rows, depth by depth; missing rows are zeros.
void pack_rows(const float* __restrict A, int64_t K, int64_t rows, int64_t depth) {
  float* __restrict out = packed_a;
  for (int64_t i = 0; i < rows; i += ROWS) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t r = 0; r < ROWS; ++r) *out++ = i + r < rows ? A[(i + r) * K + k] : 0.0F;
    }
  }
}

// Panels of `columns` columns, depth by depth; missing columns are zeros.
void pack_columns(const float* __restrict B, int64_t N, int64_t first, int64_t width, int64_t depth) {
  for (int64_t j = first; j < width; j += columns) {
    float* __restrict out = packed_b + j * BK;
    if (j + columns <= width) {
      for (int64_t k = 0; k < depth; ++k, out += columns) {
        for (int64_t s = 0; s < columns; ++s) out[s] = B[k * N + j + s];
      }
    } else {
      for (int64_t k = 0; k < depth; ++k, out += columns) {
        for (int64_t s = 0; s < columns; ++s) out[s] = j + s < width ? B[k * N + j + s] : 0.0F;
      }
    }
  }
}

// One block of C: `rows` x `width` at (i0, j0), over the depth slice at k0.
void block(const float* A, const float* B, float* C, int64_t N, int64_t K, int64_t i0, int64_t rows,
           int64_t j0, int64_t width, int64_t k0, int64_t depth) {
  for (int64_t j = 0; j < width; j += columns) {
    const bool whole = j + columns <= width;
    // The last, partial panel is always read from its packed copy, so that nothing is read beyond a row of B.
    const bool from_pack = PACK_B != 0 || !whole;
    const float* const b = from_pack ? packed_b + j * BK : B + k0 * N + j0 + j;
    const int64_t b_row = from_pack ? columns : N;
    for (int64_t i = 0; i < rows; i += ROWS) {
      const int64_t tile_rows = rows - i < ROWS ? rows - i : ROWS;
      int64_t a_row[ROWS];
#pragma GCC unroll 16
      for (int r = 0; r < ROWS; ++r) a_row[r] = PACK_A != 0 ? r : (r < tile_rows ? r : 0) * K;
      const float* const a = PACK_A != 0 ? packed_a + i * depth : A + (i0 + i) * K + k0;
      micro_kernel(depth, a, a_row, PACK_A != 0 ? ROWS : 1, b, b_row, C + (i0 + i) * N + j0 + j, N, tile_rows,
                   whole ? columns : width - j, k0 > 0);
    }
  }
}

int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void pack_b(const float* B, int64_t N, int64_t j0, int64_t width, int64_t k0, int64_t depth) {
  const int64_t first = PACK_B != 0 ? 0 : width / columns * columns;
  pack_columns(B + k0 * N + j0, N, first, width, depth);
}

void pack_a(const float* A, int64_t K, int64_t i0, int64_t rows, int64_t k0, int64_t depth) {
  if (PACK_A != 0) pack_rows(A + i0 * K + k0, K, rows, depth);
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  const int64_t row_blocks = (M + BM - 1) / BM;
  const int64_t column_blocks = (N + BN - 1) / BN;
#pragma omp parallel for schedule(SHARING)
  for (int64_t number = 0; number < row_blocks * column_blocks; ++number) {
    const int64_t i0 = BM * (ROW_BLOCKS_OUTSIDE != 0 ? number / column_blocks : number % row_blocks);
    const int64_t j0 = BN * (ROW_BLOCKS_OUTSIDE != 0 ? number % column_blocks : number / row_blocks);
    const int64_t rows = least(BM, M - i0);
    const int64_t width = least(BN, N - j0);
    for (int64_t k0 = 0; k0 < K; k0 += BK) {
      const int64_t depth = least(BK, K - k0);
      pack_a(A, K, i0, rows, k0, depth);
      pack_b(B, N, j0, width, k0, depth);
      block(A, B, C, N, K, i0, rows, j0, width, k0, depth);
    }
  }
}
