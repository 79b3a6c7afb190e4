// C = A B. A block of threads makes a BM x BN tile of C. Tiles of A and B go to shared memory by asynchronous copies,
// STAGES - 1 of them ahead; A is transposed on its way. A warp holds its fragments in registers, one step of k ahead of
// the arithmetic. A thread owns TM x TN elements, as groups of up to 4 x 4 that lie a warp's width apart: its loads from
// shared memory are 16 bytes wide and neighbours read neighbouring addresses.
#define BM 128       // kevo: {32, 64, 128, 256}
#define BN 256       // kevo: {32, 64, 128, 256}
#define BK 16        // kevo: {8, 16, 32}
#define TM 16        // kevo: {2, 4, 8, 16}
#define TN 8        // kevo: {2, 4, 8, 16}
#define LANES_M 4   // kevo: {2, 4, 8}
#define STAGES 4    // kevo: {2, 3, 4, 5}
#define PAD 4       // kevo: {0, 4, 8}
#define RASTER 8    // kevo: {1, 2, 4, 8, 16, 32}
#define MIN_BLOCKS 1   // kevo: {1, 2, 3, 4}
#define LOAD_AT 1   // kevo: {0, 1, 3, 5, 7}
#define ORDER 0     // kevo: {0, 1, 2}
// kevo: require BM % (LANES_M * TM) == 0 && BN % (32 / LANES_M * TN) == 0
// kevo: require BM * BN / (TM * TN) >= 64 && BM * BN / (TM * TN) <= 1024
// kevo: require BM * BK % (BM * BN / (TM * TN)) == 0
// kevo: require TM * TN <= 128 && BM * BN / (TM * TN) * MIN_BLOCKS * (TM * TN + 24) <= 65536
// kevo: require 4 * STAGES * BK * (BM + PAD + BN) * MIN_BLOCKS <= 200 * 1024
// kevo: when N % 4 == 0: launch sgemm[4]<<<ceildiv(M, BM) * ceildiv(N, BN), BM * BN / (TM * TN), smem(4 * STAGES * BK * (BM + PAD + BN))>>>(A, B, C, M, N, K)
// kevo: when N % 4 != 0: launch sgemm[1]<<<ceildiv(M, BM) * ceildiv(N, BN), BM * BN / (TM * TN), smem(4 * STAGES * BK * (BM + PAD + BN))>>>(A, B, C, M, N, K)

constexpr int threads = BM * BN / (TM * TN);
constexpr int lanes_n = 32 / LANES_M;
constexpr int warps_n = BN / (lanes_n * TN);
constexpr int group_m = TM < 4 ? TM : 4;
constexpr int group_n = TN < 4 ? TN : 4;
constexpr int a_pitch = BM + PAD;
constexpr int stage_floats = BK * (BM + PAD + BN);

template <int bytes>
__device__ __forceinline__ void copy_async(float* shared, const float* global, bool inside) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int size = inside ? bytes : 0;  // the rest is filled with zeros
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(size));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(global), "r"(size));
  }
}

template <int width>
__device__ __forceinline__ void load_shared(float* registers, const float* shared) {
  if constexpr (width == 4) {
    *reinterpret_cast<float4*>(registers) = *reinterpret_cast<const float4*>(shared);
  } else {
    *reinterpret_cast<float2*>(registers) = *reinterpret_cast<const float2*>(shared);
  }
}

template <int vector>
__global__ void __launch_bounds__(threads, MIN_BLOCKS)
    sgemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(16) float shared[];
  const int tiles_m = (M + BM - 1) / BM;
  const int tiles_n = (N + BN - 1) / BN;
  // Bands of RASTER rows of tiles, walked column by column: what runs at the same time shares the L2 cache.
  // kevo: begin rasterization
  const int band = blockIdx.x / (RASTER * tiles_n);
  const int within = blockIdx.x % (RASTER * tiles_n);
  const int rows = min(RASTER, tiles_m - band * RASTER);
  const int m0 = (band * RASTER + within % rows) * BM;
  const int n0 = within / rows * BN;
  // kevo: end rasterization

  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int row = warp / warps_n * (LANES_M * TM) + lane / lanes_n * group_m;
  const int column = warp % warps_n * (lanes_n * TN) + lane % lanes_n * group_n;

  // Where this thread's copies come from and go to. One step of a tile of A covers threads / BK rows.
  constexpr int a_step = threads / BK;
  constexpr int b_row = BN / vector;  // copies in a row of B
  constexpr bool b_whole = threads % b_row == 0;
  constexpr int b_step = threads / b_row;
  constexpr int b_copies = (BK * b_row + threads - 1) / threads;
  const int a_k = thread % BK;
  const int a_m = thread / BK;
  const float* a_from = A + static_cast<long long>(m0 + a_m) * K + a_k;

  const auto load_tile = [&](int tile, int slot) {
    const int k0 = tile * BK;
    float* a_to = shared + slot * stage_floats;
    float* b_to = a_to + BK * a_pitch;
#pragma unroll
    for (int i = 0; i < BM / a_step; ++i) {
      const bool inside = m0 + a_m + i * a_step < M && k0 + a_k < K;
      copy_async<4>(a_to + a_k * a_pitch + a_m + i * a_step,
                    inside ? a_from + k0 + static_cast<long long>(i) * a_step * K : A, inside);
    }
#pragma unroll
    for (int i = 0; i < b_copies; ++i) {
      const int k = (b_whole ? i * b_step : 0) + (b_whole ? thread : i * threads + thread) / b_row;
      const int n = (b_whole ? thread : i * threads + thread) % b_row * vector;
      if (b_copies * threads > BK * b_row && k >= BK) break;
      const bool inside = k0 + k < K && n0 + n < N;
      copy_async<4 * vector>(b_to + k * BN + n,
                             inside ? B + static_cast<long long>(k0 + k) * N + n0 + n : B, inside);
    }
  };

  float a[2][TM], b[2][TN], c[TM][TN] = {};
  const auto load_fragments = [&](int slot, int k, int to) {
    const float* a_at = shared + slot * stage_floats + k * a_pitch + row;
    const float* b_at = shared + slot * stage_floats + BK * a_pitch + k * BN + column;
#pragma unroll
    for (int i = 0; i < TM; i += group_m) load_shared<group_m>(&a[to][i], a_at + i * LANES_M);
#pragma unroll
    for (int j = 0; j < TN; j += group_n) load_shared<group_n>(&b[to][j], b_at + j * lanes_n);
  };

  const int tiles = (K + BK - 1) / BK;
#pragma unroll
  for (int tile = 0; tile < STAGES - 1; ++tile) {
    if (tile < tiles) load_tile(tile, tile);
    asm volatile("cp.async.commit_group;");
  }
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
  __syncthreads();
  load_fragments(0, 0, 0);

  int slot = 0;
  int load_slot = STAGES - 1;
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) {
        // Every fragment of this tile is in registers: once all threads are here, its slot may be overwritten.
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
      }
      load_fragments(slot, (k + 1) % BK, (k + 1) % 2);
      if (k == (LOAD_AT < BK - 1 ? LOAD_AT : 0)) {
        if (tile + STAGES - 1 < tiles) load_tile(tile + STAGES - 1, load_slot);
        load_slot = load_slot + 1 == STAGES ? 0 : load_slot + 1;
        asm volatile("cp.async.commit_group;");
      }
      // kevo: begin multiply
#pragma unroll
      for (int step = 0; step < TM * TN; ++step) {
        // Snakes: the neighbour in program order shares an operand, which the operand cache then holds.
        constexpr int inner = ORDER == 1 ? TM : TN;
        const int outer_at = step / inner;
        const int inner_at = ORDER == 2 || outer_at % 2 == 0 ? step % inner : inner - 1 - step % inner;
        const int i = ORDER == 1 ? inner_at : outer_at;
        const int j = ORDER == 1 ? outer_at : inner_at;
        c[i][j] = fmaf(a[k % 2][i], b[k % 2][j], c[i][j]);
      }
      // kevo: end multiply
    }
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int m = m0 + row + i / group_m * group_m * LANES_M + i % group_m;
    if (m >= M) continue;
#pragma unroll
    for (int j = 0; j < TN; j += group_n) {
      const int n = n0 + column + j * lanes_n;
      float* to = C + static_cast<long long>(m) * N + n;
      if constexpr (vector == 4 && group_n == 4) {
        if (n < N) *reinterpret_cast<float4*>(to) = make_float4(c[i][j], c[i][j + 1], c[i][j + 2], c[i][j + 3]);
      } else {
#pragma unroll
        for (int u = 0; u < group_n; ++u) {
          if (n + u < N) to[u] = c[i][j + u];
        }
      }
    }
  }
}
