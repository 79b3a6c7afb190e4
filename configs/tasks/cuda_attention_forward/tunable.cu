// Attention on the tensor cores (mma.sync), with one pass over the keys (FlashAttention 2: Dao, arXiv 2307.08691). A block has BM
// queries of one head, a warp 16 of them, whose elements it holds in registers. Tiles of BN keys and values go to shared memory
// by asynchronous copies, STAGES - 1 tiles ahead, in 16-byte pieces whose place is swizzled by the row. A warp multiplies its
// queries with a tile of keys, keeps a running maximum and sum for each row, and multiplies the weights, rounded to bfloat16 in
// registers, with the tile of values.
#define BM 64          // kevo: {32, 64, 128}
#define BN 32          // kevo: {16, 32, 64, 128}
#define STAGES 1       // kevo: {1, 2, 3}
#define MIN_BLOCKS 1   // kevo: {1, 2, 3, 4}
#define HEAVY_FIRST 0  // kevo: {0, 1}
#define HEADS_FIRST 0  // kevo: {0, 1}
// kevo: require (2 * STAGES * BN + BM) * 256 * MIN_BLOCKS <= 220 * 1024
// kevo: require BM * 2 * MIN_BLOCKS * 128 <= 65536 || MIN_BLOCKS == 1
// kevo: when HEADS_FIRST == 0: launch attention<<<(ceildiv(S, BM), H, B), BM * 2, smem((2 * STAGES * BN + BM) * 256)>>>(q, k, v, o, H, G, S, mask)
// kevo: when HEADS_FIRST == 1: launch attention<<<(H, ceildiv(S, BM), B), BM * 2, smem((2 * STAGES * BN + BM) * 256)>>>(q, k, v, o, H, G, S, mask)

typedef unsigned short bfloat;
constexpr int threads = BM * 2;
constexpr int tiles_ahead = STAGES > 1 ? STAGES - 1 : 1;
constexpr int row_bytes = 256;  // 128 elements

// Instructions of the tensor cores and what feeds them.
template <int bytes>
__device__ __forceinline__ void copy_async(float* shared, const float* global, bool inside) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int size = inside ? bytes : 0;  // the rest is filled with zeros
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(size));
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <int pending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
// Four 8 x 8 matrices; lanes 8 i to 8 i + 7 say where the rows of matrix i are.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const char* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void load_transposed(unsigned (&to)[4], const char* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
// c += a b for 16 x 16 times 16 x 8.
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned packed(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ float power_of_2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float from_lane_xor(float x, int other) { return __shfl_xor_sync(~0u, x, other); }
// End of the instructions.

// Where a 16-byte piece of a row of a tile lies.
__device__ __forceinline__ int place(int row, int piece) { return row * row_bytes + (piece ^ row % 8) * 16; }

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
    attention(const bfloat* __restrict__ q, const bfloat* __restrict__ k, const bfloat* __restrict__ v, bfloat* __restrict__ o,
              int H, int G, int S, int mask) {
  extern __shared__ __align__(16) float shared[];
  char* const queries = reinterpret_cast<char*>(shared);
  char* const stages = queries + BM * row_bytes;
  const int blocks = (S + BM - 1) / BM;
  const int at = HEADS_FIRST ? blockIdx.y : blockIdx.x;
  const int block = HEAVY_FIRST ? blocks - 1 - at : at;
  const int head = HEADS_FIRST ? blockIdx.x : blockIdx.y;
  const int first = block * BM;
  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int lane = thread % 32;
  q += (static_cast<long long>(blockIdx.z) * H + head) * S * 128;
  o += (static_cast<long long>(blockIdx.z) * H + head) * S * 128;
  k += (static_cast<long long>(blockIdx.z) * G + head / (H / G)) * S * 128;
  v += (static_cast<long long>(blockIdx.z) * G + head / (H / G)) * S * 128;

  const auto copy_rows = [&](char* to, const bfloat* from, int row0, int rows) {
#pragma unroll
    for (int i = thread; i < rows * 16; i += threads) {
      const int row = i / 16;
      const bool inside = row0 + row < S;
      copy_async<16>(reinterpret_cast<float*>(to + place(row, i % 16)),
                     reinterpret_cast<const float*>(from + (inside ? (row0 + row) * 128LL + i % 16 * 8 : 0)), inside);
    }
  };
  const int keys = mask == 2 ? min(first + BM, S) : S;
  const int tiles = (keys + BN - 1) / BN;
  const auto load_tile = [&](int tile) {
    char* const to = stages + tile % STAGES * (2 * BN * row_bytes);
    copy_rows(to, k, tile * BN, BN);
    copy_rows(to + BN * row_bytes, v, tile * BN, BN);
  };

  copy_rows(queries, q, first, BM);
#pragma unroll
  for (int tile = 0; tile < tiles_ahead; ++tile) {
    if (tile < tiles) load_tile(tile);
    commit_copies();
  }
  wait_for_copies<tiles_ahead - 1>();
  __syncthreads();

  // A warp's queries: 16 rows, 8 steps of 16 elements.
  unsigned query[8][4];
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    load_matrices(query[step], queries + place(warp * 16 + lane % 16, 2 * step + lane / 16));
  }

  // Of 16 x 8 results a thread has two neighbours in row lane / 4, and two in the row 8 below.
  float out[16][4] = {};
  float largest[2] = {-1e30f, -1e30f};
  float total[2] = {};
  const int own_row = first + warp * 16 + lane / 4;
  for (int tile = 0; tile < tiles; ++tile) {
    const char* const key_tile = stages + tile % STAGES * (2 * BN * row_bytes);
    const char* const value_tile = key_tile + BN * row_bytes;
    if constexpr (STAGES > 1) {
      if (tile + tiles_ahead < tiles) load_tile(tile + tiles_ahead);
      commit_copies();
    }
    float score[BN / 8][4] = {};
    // kevo: begin scores
#pragma unroll
    for (int step = 0; step < 8; ++step) {
#pragma unroll
      for (int j = 0; j < BN / 8; j += 2) {
        unsigned key[4];
        load_matrices(key, key_tile + place(j * 8 + lane / 16 * 8 + lane % 8, 2 * step + lane / 8 % 2));
        multiply(score[j], query[step], key[0], key[1]);
        multiply(score[j + 1], query[step], key[2], key[3]);
      }
    }
    // kevo: end scores
    // kevo: begin softmax
    const int key0 = tile * BN + lane % 4 * 2;
    if (tile * BN + BN > S || (mask == 2 && tile * BN + BN - 1 > first + warp * 16)) {
#pragma unroll
      for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
        for (int u = 0; u < 4; ++u) {
          const int key = key0 + j * 8 + u % 2;
          if (key >= S || (mask == 2 && key > own_row + u / 2 * 8)) score[j][u] = -1e30f;
        }
      }
    }
    constexpr float scale = 0.088388347648f * 1.4426950409f;  // log2(e) / sqrt(128)
    float rescale[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = largest[half];
#pragma unroll
      for (int j = 0; j < BN / 8; ++j) most = fmaxf(most, fmaxf(score[j][2 * half], score[j][2 * half + 1]));
      most = fmaxf(most, from_lane_xor(most, 1));
      most = fmaxf(most, from_lane_xor(most, 2));
      rescale[half] = power_of_2((largest[half] - most) * scale);
      largest[half] = most;
      float sum = 0.0f;
#pragma unroll
      for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
        for (int u = 2 * half; u < 2 * half + 2; ++u) {
          score[j][u] = power_of_2(fmaf(score[j][u], scale, -most * scale));
          sum += score[j][u];
        }
      }
      total[half] = total[half] * rescale[half] + sum;
    }
#pragma unroll
    for (int j = 0; j < 16; ++j) {
#pragma unroll
      for (int u = 0; u < 4; ++u) out[j][u] *= rescale[u / 2];
    }
    // kevo: end softmax
#pragma unroll
    for (int step = 0; step < BN / 16; ++step) {
      const unsigned weight[4] = {packed(score[2 * step][0], score[2 * step][1]), packed(score[2 * step][2], score[2 * step][3]),
                                  packed(score[2 * step + 1][0], score[2 * step + 1][1]),
                                  packed(score[2 * step + 1][2], score[2 * step + 1][3])};
#pragma unroll
      for (int j = 0; j < 16; j += 2) {
        unsigned value[4];
        load_transposed(value, value_tile + place(step * 16 + lane % 16, j + lane / 16));
        multiply(out[j], weight, value[0], value[1]);
        multiply(out[j + 1], weight, value[2], value[3]);
      }
    }
    if constexpr (STAGES == 1) {
      __syncthreads();
      if (tile + 1 < tiles) load_tile(tile + 1);
      commit_copies();
    }
    wait_for_copies<tiles_ahead - 1>();
    __syncthreads();
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = total[half];
    sum += from_lane_xor(sum, 1);
    sum += from_lane_xor(sum, 2);
    const int row = own_row + half * 8;
    if (row >= S) continue;
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      *reinterpret_cast<unsigned*>(o + row * 128LL + j * 8 + lane % 4 * 2) =
          packed(out[j][2 * half] / sum, out[j][2 * half + 1] / sum);
    }
  }
}
