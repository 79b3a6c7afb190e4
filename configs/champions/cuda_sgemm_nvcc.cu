// kevo: build {compiler: nvcc}
// C = A B. A block of threads makes a BM x BN tile of C. Tiles of A and B go to shared memory by asynchronous copies,
// STAGES - 1 of them ahead; A is transposed on its way. A warp holds its fragments in registers, one step of k ahead of
// the arithmetic. A thread owns TM x TN elements, as groups of up to 4 x 4 that lie a warp's width apart: its loads from
// shared memory are 16 bytes wide and neighbours read neighbouring addresses. A block that lies inside C copies without
// checks if K is a multiple of BK, because every other instruction is issued in place of a multiplication.
#define BM 128       // kevo: {32, 64, 128, 256}
#define BN 256       // kevo: {32, 64, 128, 256}
#define BK 16        // kevo: {8, 16, 32}
#define TM 8        // kevo: {2, 4, 8, 16}
#define TN 16        // kevo: {2, 4, 8, 16}
#define LANES_M 8   // kevo: {2, 4, 8}
#define STAGES 4    // kevo: {2, 3, 4, 5}
#define PAD 4       // kevo: {0, 4, 8}
#define RASTER 8    // kevo: {1, 2, 4, 8, 16, 32}
#define MIN_BLOCKS 1   // kevo: {1, 2, 3, 4}
#define LOAD_AT 0   // kevo: {0, 1, 3, 5, 7}
#define ORDER 1     // kevo: {0, 1, 2}
#define RUN 2       // kevo: {1, 2}
#define MEET 0      // kevo: {0, 1}
// kevo: require BM % (LANES_M * TM) == 0 && BN % (32 / LANES_M * TN) == 0
// kevo: require BM * BN / (TM * TN) >= 64 && BM * BN / (TM * TN) <= 1024
// kevo: require BM * BK % (RUN * BM * BN / (TM * TN)) == 0
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

// MEET 1: all threads of the block meet once in each tile. MEET 0 (sm_90): a warp waits until the tile that it needs has been
// copied (full), and before it overwrites a tile until all warps have read it (empty), so that warps need not keep in step.
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrive_when_copied(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

template <int width>
__device__ __forceinline__ void load_shared(float* registers, const float* shared) {
  if constexpr (width == 4) {
    *reinterpret_cast<float4*>(registers) = *reinterpret_cast<const float4*>(shared);
  } else {
    *reinterpret_cast<float2*>(registers) = *reinterpret_cast<const float2*>(shared);
  }
}

// One tile of C; inside: all of it exists, and K is a multiple of BK.
template <int vector, bool inside>
__device__ __forceinline__ void make_tile(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                          int N, int K, int m0, int n0) {
  extern __shared__ __align__(16) float shared[];
  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int row = warp / warps_n * (LANES_M * TM) + lane / lanes_n * group_m;
  const int column = warp % warps_n * (lanes_n * TN) + lane % lanes_n * group_n;

  // Where this thread's copies come from and go to. One step of a tile of A covers a_step rows; a thread copies RUN elements
  // of one row.
  constexpr int a_group = BK / RUN;
  constexpr int a_step = threads / a_group;
  constexpr int b_row = BN / vector;  // copies in a row of B
  constexpr bool b_whole = threads % b_row == 0;
  constexpr int b_step = threads / b_row;
  constexpr int b_copies = (BK * b_row + threads - 1) / threads;
  const int a_k = thread % a_group;
  const int a_m = thread / a_group;
  const float* a_from = A + static_cast<long long>(m0 + a_m) * K + a_k;
  const float* b_from = B + static_cast<long long>(b_whole ? thread / b_row : 0) * N + n0 + thread % b_row * vector;

  const auto load_a = [&](int k0, float* to) {
#pragma unroll
    for (int i = 0; i < BM / a_step; ++i) {
#pragma unroll
      for (int r = 0; r < RUN; ++r) {
        const bool exists = inside || (m0 + a_m + i * a_step < M && k0 + a_k + r * a_group < K);
        const float* from = a_from + k0 + static_cast<long long>(i) * a_step * K + r * a_group;
        copy_async<4>(to + (a_k + r * a_group) * a_pitch + a_m + i * a_step, exists ? from : A, exists);
      }
    }
  };
  const auto load_b = [&](int k0, float* to) {
#pragma unroll
    for (int i = 0; i < b_copies; ++i) {
      if constexpr (inside && b_whole && BK * b_row % threads == 0) {
        copy_async<4 * vector>(to + i * b_step * BN + thread * vector, b_from + static_cast<long long>(k0 + i * b_step) * N, true);
      } else {
        const int k = (b_whole ? i * b_step : 0) + (b_whole ? thread : i * threads + thread) / b_row;
        const int n = (b_whole ? thread : i * threads + thread) % b_row * vector;
        if (b_copies * threads > BK * b_row && k >= BK) break;
        const bool exists = k0 + k < K && n0 + n < N;
        copy_async<4 * vector>(to + k * BN + n, exists ? B + static_cast<long long>(k0 + k) * N + n0 + n : B, exists);
      }
    }
  };
  const auto load_tile = [&](int tile, int slot) {
    load_a(tile * BK, shared + slot * stage_floats);
    load_b(tile * BK, shared + slot * stage_floats + BK * a_pitch);
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

  __shared__ unsigned long long full[STAGES];
  __shared__ unsigned long long empty[STAGES];
  const unsigned full_at = static_cast<unsigned>(__cvta_generic_to_shared(full));
  const unsigned empty_at = static_cast<unsigned>(__cvta_generic_to_shared(empty));
  if constexpr (MEET == 0) {
    if (thread < STAGES) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(full_at + 8 * thread), "r"(threads) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty_at + 8 * thread), "r"(threads / 32) : "memory");
    }
    __syncthreads();
  }
  const auto announce = [&](int at) {
    if constexpr (MEET == 0) {
      arrive_when_copied(full_at + 8 * at);
    } else {
      asm volatile("cp.async.commit_group;");
    }
  };

  const int tiles = (K + BK - 1) / BK;
#pragma unroll
  for (int tile = 0; tile < STAGES - 1; ++tile) {
    if (tile < tiles) load_tile(tile, tile);
    announce(tile);
  }
  if constexpr (MEET == 0) {
    wait(full_at, 0);
  } else {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
  }
  load_fragments(0, 0, 0);

  int slot = 0;
  int load_slot = STAGES - 1;
  unsigned parity = 0;       // of slot
  unsigned load_parity = 1;  // of load_slot: the first use of a slot need not wait
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) {
        // Every fragment of this tile is in registers: once all threads are here, its slot may be overwritten.
        if constexpr (MEET == 0) {
          __syncwarp();
          if (lane == 0) arrive(empty_at + 8 * slot);
        } else {
          asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
          __syncthreads();
        }
        if (++slot == STAGES) {
          slot = 0;
          parity ^= 1;
        }
        if constexpr (MEET == 0) {
          if (tile + 1 < tiles) wait(full_at + 8 * slot, parity);
        }
      }
      load_fragments(slot, (k + 1) % BK, (k + 1) % 2);
      if (k == (LOAD_AT < BK - 1 ? LOAD_AT : 0)) {
        if (tile + STAGES - 1 < tiles) {
          if constexpr (MEET == 0) wait(empty_at + 8 * load_slot, load_parity);
          load_tile(tile + STAGES - 1, load_slot);
        }
        if (MEET == 1 || tile + STAGES - 1 < tiles) announce(load_slot);
        if (++load_slot == STAGES) {
          load_slot = 0;
          load_parity ^= 1;
        }
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
    if (!inside && m >= M) continue;
#pragma unroll
    for (int j = 0; j < TN; j += group_n) {
      const int n = n0 + column + j * lanes_n;
      float* to = C + static_cast<long long>(m) * N + n;
      if constexpr (vector == 4 && group_n == 4) {
        if (inside || n < N) *reinterpret_cast<float4*>(to) = make_float4(c[i][j], c[i][j + 1], c[i][j + 2], c[i][j + 3]);
      } else {
#pragma unroll
        for (int u = 0; u < group_n; ++u) {
          if (n + u < N) to[u] = c[i][j + u];
        }
      }
    }
  }
}

template <int vector>
__global__ void __launch_bounds__(threads, MIN_BLOCKS)
    sgemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
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
  if constexpr (vector == 4) {
    if (m0 + BM <= M && n0 + BN <= N && K % BK == 0) {
      make_tile<vector, true>(A, B, C, M, N, K, m0, n0);
      return;
    }
  }
  make_tile<vector, false>(A, B, C, M, N, K, m0, n0);
}
