// C = A transpose(B) on the tensor cores (wgmma, sm_90a). Blocks stay and take tile after tile of C. In each, one
// warpgroup produces: one of its threads asks the copy engine (TMA) for tiles of A and B, STAGES ahead; CONSUMERS
// warpgroups multiply, each 64 * PER_CONSUMER rows of the block's tile, in float32 registers. Blocks of a cluster work
// below each other and share the tiles of B: each fetches a part for all. With STORE, results go through shared memory and
// are written by the copy engine. With DEFER, a consumer only rounds the results of a tile to bfloat16 in its registers, and
// writes a part of them in every DEFER-th step of the next tile, while the tensor cores work.
// SPARE multiprocessors are left idle; this costs nothing if the others need as many rounds without them (512 tiles take 4
// rounds on 128 multiprocessors as on 132), and saves power.
// Layouts and descriptors: PTX ISA, "Asynchronous warpgroup level matrix instructions" and "Tensor maps".
#define CONSUMERS 1     // kevo: {1, 2, 3}
#define PER_CONSUMER 1  // kevo: {1, 2}
#define BN 64           // kevo: {64, 128, 256}
#define STAGES 2        // kevo: {2, 3, 4, 5, 6, 8}
#define CLUSTER 1       // kevo: {1, 2}
#define RASTER 1        // kevo: {1, 2, 4, 8, 16}
#define IN_FLIGHT 0     // kevo: {0, 1}
#define STORE 0         // kevo: {0, 1, 2, 4}
#define SPARE 0         // kevo: {0, 4}
#define DEFER 0         // kevo: {0, 1, 2, 4, 8, 16}
#define BLOCKS_PER_SM 1   // kevo: {1, 2, 3}
// kevo: require PER_CONSUMER * BN <= 256 && (CONSUMERS < 3 || PER_CONSUMER * BN <= 128) && (CONSUMERS == 1 || BLOCKS_PER_SM == 1)
// kevo: require (128 * STAGES * (64 * CONSUMERS * PER_CONSUMER + BN) + 8192 * STORE * CONSUMERS) * BLOCKS_PER_SM <= (228 - 4 * BLOCKS_PER_SM) * 1024
// kevo: require 64 * CONSUMERS * PER_CONSUMER <= 256
// kevo: require BLOCKS_PER_SM * (PER_CONSUMER * BN * (2 + (DEFER > 0)) / 4 + 48) <= 255
// kevo: when K % 8 == 0: tensormap map_a(A, [K, M], [2 * K], [64, 64 * CONSUMERS * PER_CONSUMER], [1, 1], 128B, none, 128B)
// kevo: when K % 8 == 0: tensormap map_b(B, [K, N], [2 * K], [64, BN / CLUSTER], [1, 1], 128B, none, 128B)
// kevo: when K % 8 == 0 && N % 8 == 0: tensormap map_c(C, [N, M], [2 * N], [64, 64], [1, 1], 128B)
// kevo: when K % 8 == 0 && N % 8 == 0: launch hgemm[STORE]<<<(device.sms - SPARE) * BLOCKS_PER_SM / CLUSTER * CLUSTER, 128 * (CONSUMERS + 1), smem(1024 + 128 * STAGES * (64 * CONSUMERS * PER_CONSUMER + BN) + 8192 * STORE * CONSUMERS)>>>(map_a, map_b, map_c, C, M, N, K) cluster CLUSTER
// kevo: when K % 8 == 0 && N % 8 != 0: launch hgemm[0]<<<(device.sms - SPARE) * BLOCKS_PER_SM / CLUSTER * CLUSTER, 128 * (CONSUMERS + 1), smem(1024 + 128 * STAGES * (64 * CONSUMERS * PER_CONSUMER + BN) + 8192 * STORE * CONSUMERS)>>>(map_a, map_b, map_a, C, M, N, K) cluster CLUSTER
// kevo: when K % 8 != 0: launch hgemm_any<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(A, B, C, M, N, K)

struct alignas(64) tensor_map {
  unsigned char bytes[128];
};

constexpr int block_m = 64 * CONSUMERS * PER_CONSUMER;
constexpr int block_k = 64;  // 128 bytes: the width of the swizzle
constexpr int a_bytes = block_m * block_k * 2;
constexpr int b_bytes = BN * block_k * 2;
constexpr int stage_bytes = a_bytes + b_bytes;
constexpr int buffer_bytes = 64 * 64 * 2;

#define ACCUMULATORS(i)                                                                                     \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])

// d = a b + (keep ? d : 0) for 64 x n elements, 16 steps of k; a and b are descriptors of shared memory.
template <int n>
__device__ __forceinline__ void multiply(float (&d)[n / 2], unsigned long long a, unsigned long long b, int keep);
template <>
__device__ __forceinline__ void multiply<64>(float (&d)[32], unsigned long long a, unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, keep, 1, 1, 0, 0;\n}"
      : ACCUMULATORS(0), ACCUMULATORS(8), ACCUMULATORS(16), ACCUMULATORS(24)
      : "l"(a), "l"(b), "r"(keep));
}
template <>
__device__ __forceinline__ void multiply<128>(float (&d)[64], unsigned long long a, unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, keep, 1, 1, 0, 0;\n}"
      : ACCUMULATORS(0), ACCUMULATORS(8), ACCUMULATORS(16), ACCUMULATORS(24),
      ACCUMULATORS(32), ACCUMULATORS(40), ACCUMULATORS(48), ACCUMULATORS(56)
      : "l"(a), "l"(b), "r"(keep));
}
template <>
__device__ __forceinline__ void multiply<256>(float (&d)[128], unsigned long long a, unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, keep, 1, 1, 0, 0;\n}"
      : ACCUMULATORS(0), ACCUMULATORS(8), ACCUMULATORS(16), ACCUMULATORS(24),
      ACCUMULATORS(32), ACCUMULATORS(40), ACCUMULATORS(48), ACCUMULATORS(56),
      ACCUMULATORS(64), ACCUMULATORS(72), ACCUMULATORS(80), ACCUMULATORS(88),
      ACCUMULATORS(96), ACCUMULATORS(104), ACCUMULATORS(112), ACCUMULATORS(120)
      : "l"(a), "l"(b), "r"(keep));
}

// Rows of 128 bytes, swizzled, groups of 8 rows 1024 bytes apart.
__device__ __forceinline__ unsigned long long describe(unsigned address) {
  return static_cast<unsigned long long>((address & 0x3ffffu) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
// Without release.cluster, which would make each arrival wait for a fence of the whole device. No fence is needed: what is
// released was only read, and wgmma has finished reading it.
__device__ __forceinline__ void arrive(unsigned barrier, unsigned block) {
  if constexpr (CLUSTER == 1) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
  } else {
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
        "r"(block)
        : "memory");
  }
}
__device__ __forceinline__ void fetch(unsigned to, const tensor_map* map, unsigned barrier, int k, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(k), "r"(row)
      : "memory");
}
__device__ __forceinline__ void fetch_for_all(unsigned to, const tensor_map* map, unsigned barrier, int k, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%4, %5}], [%2], %3;" ::"r"(to),
      "l"(map), "r"(barrier), "h"(static_cast<unsigned short>((1 << CLUSTER) - 1)), "r"(k), "r"(row)
      : "memory");
}
__device__ __forceinline__ void store(const tensor_map* map, unsigned from, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];\ncp.async.bulk.commit_group;" ::"l"(map),
               "r"(from), "r"(column), "r"(row)
               : "memory");
}
__device__ __forceinline__ void meet_warpgroup() {
  asm volatile("bar.sync %0, 128;" ::"r"(static_cast<int>(threadIdx.x) / 128) : "memory");
}
__device__ __forceinline__ void meet_cluster() {
  if constexpr (CLUSTER > 1) {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
}
__device__ __forceinline__ unsigned packed(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
// Four threads hold four words each, by column; afterwards each holds one column's.
// kevo: begin epilogue_words
__device__ __forceinline__ void transpose_quad(unsigned (&w)[4]) {
  const bool odd = threadIdx.x & 1;
  const bool upper = threadIdx.x & 2;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const unsigned got = __shfl_xor_sync(~0u, odd ? w[i] : w[i + 1], 1);
    (odd ? w[i] : w[i + 1]) = got;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned got = __shfl_xor_sync(~0u, upper ? w[i] : w[i + 2], 2);
    (upper ? w[i] : w[i + 2]) = got;
  }
}
// kevo: end epilogue_words

// Columns 64 part to 64 part + 63 of the 64 x BN elements of a warpgroup, in pairs as wgmma leaves them in registers, to rows
// m0.. and columns n0.. of C.
__device__ __forceinline__ void write_part(const unsigned (&pairs)[BN / 4], int part, unsigned short* __restrict__ C, int m0,
                                           int n0, int M, int N) {
  const int thread = threadIdx.x % 128;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int m = m0 + thread / 32 * 16 + thread % 32 / 4 + 8 * half;
    unsigned short* to = C + static_cast<long long>(m) * N;
#pragma unroll
    for (int j = 8 * part; j < 8 * part + 8; j += 4) {
      unsigned words[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) words[u] = pairs[2 * (j + u) + half];
      transpose_quad(words);
      const int n = n0 + 8 * (j + thread % 4);
      if (m < M && n < N) {
        if (N % 8 == 0) {
          *reinterpret_cast<uint4*>(to + n) = make_uint4(words[0], words[1], words[2], words[3]);
        } else {
#pragma unroll
          for (int u = 0; u < 8; ++u) {
            if (n + u < N) to[n + u] = static_cast<unsigned short>(words[u / 2] >> (16 * (u % 2)));
          }
        }
      }
    }
  }
}
// The same columns to shared memory: rows of 128 bytes, swizzled.
__device__ __forceinline__ void fill_buffer(const unsigned (&pairs)[BN / 4], unsigned buffer, int part) {
  const int lane = threadIdx.x % 32;
  const int row = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    const int at = 2 * (8 * part + j);
    const unsigned to = buffer + row * 128 + (((j + lane / 16) ^ (row % 8)) << 4);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(pairs[at]),
                 "r"(pairs[at + 1]), "r"(pairs[at + 2]), "r"(pairs[at + 3])
                 : "memory");
  }
}

struct tile_place {
  int m;
  int n;
};
// Bands of RASTER rows of tiles, walked column by column: what runs at the same time shares the L2 cache.
// kevo: begin rasterization
__device__ __forceinline__ tile_place place_of(int tile, int tiles_m, int tiles_n, int rank) {
  const int band = tile / (RASTER * tiles_n);
  const int within = tile % (RASTER * tiles_n);
  const int rows = min(RASTER, tiles_m - band * RASTER);
  return {((band * RASTER + within % rows) * CLUSTER + rank) * block_m, within / rows * BN};
}
// kevo: end rasterization

// buffers: 0: every thread writes what it holds. Otherwise each warpgroup has so many buffers of 64 x 64 elements in shared
// memory, from which the copy engine writes while the next products run.
template <int buffers>
__global__ void __launch_bounds__(128 * (CONSUMERS + 1), BLOCKS_PER_SM)
    hgemm(const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b,
          const __grid_constant__ tensor_map map_c, unsigned short* __restrict__ C, int M, int N, int K) {
  extern __shared__ unsigned char raw[];
  __shared__ unsigned long long full[STAGES];
  __shared__ unsigned long long empty[STAGES];
  const unsigned tiles_at = (shared_address(raw) + 1023u) & ~1023u;
  const unsigned full_at = shared_address(full);
  const unsigned empty_at = shared_address(empty);
  int rank = 0;
  if constexpr (CLUSTER > 1) asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  const int warpgroup = threadIdx.x / 128;

  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];\nprefetch.tensormap [%1];" ::"l"(&map_a), "l"(&map_b) : "memory");
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full_at + 8 * s));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty_at + 8 * s), "r"(CONSUMERS * CLUSTER));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  meet_cluster();

  const int tiles_m = (M + block_m * CLUSTER - 1) / (block_m * CLUSTER);
  const int tiles_n = (N + BN - 1) / BN;
  const int tiles = tiles_m * tiles_n;
  const int steps = (K + block_k - 1) / block_k;
  const int first = blockIdx.x / CLUSTER;
  const int stride = gridDim.x / CLUSTER;
  int slot = 0;
  unsigned parity = 0;
  const auto advance = [&] {
    if (++slot == STAGES) {
      slot = 0;
      parity ^= 1;
    }
  };

  if (warpgroup == 0) {
    if constexpr (CONSUMERS == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if constexpr (CONSUMERS == 3) asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
    if (threadIdx.x == 0) {
      for (int tile = first; tile < tiles; tile += stride) {
        const tile_place at = place_of(tile, tiles_m, tiles_n, rank);
        for (int step = 0; step < steps; ++step) {
          wait(empty_at + 8 * slot, parity ^ 1);
          const unsigned barrier = full_at + 8 * slot;
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(stage_bytes)
                       : "memory");
          const unsigned to = tiles_at + slot * stage_bytes;
          fetch(to, &map_a, barrier, step * block_k, at.m);
          if constexpr (CLUSTER == 1) {
            fetch(to + a_bytes, &map_b, barrier, step * block_k, at.n);
          } else {
            fetch_for_all(to + a_bytes + rank * (b_bytes / CLUSTER), &map_b, barrier, step * block_k,
                          at.n + rank * (BN / CLUSTER));
          }
          advance();
        }
      }
    }
  } else {
    if constexpr (CONSUMERS == 2) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    if constexpr (CONSUMERS == 3) asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
    const int thread = threadIdx.x % 128;
    const unsigned a_offset = (warpgroup - 1) * PER_CONSUMER * 64 * 128;
    float d[PER_CONSUMER][BN / 2];
    unsigned pairs[PER_CONSUMER][BN / 4];  // results, rounded
    tile_place at{};
    constexpr int parts = BN / 64;
    constexpr int together = buffers == 0 ? 1 : buffers < parts ? buffers : parts;
    constexpr int groups = PER_CONSUMER * parts / together;
    // Group number g of the results in `pairs` to C.
    const auto put = [&](int g) {
      const int i = g * together / parts;
      const int part = g * together % parts;
      const int m0 = at.m + ((warpgroup - 1) * PER_CONSUMER + i) * 64;
      if constexpr (buffers == 0) {
        write_part(pairs[i], part, C, m0, at.n, M, N);
      } else {
        const unsigned out = tiles_at + STAGES * stage_bytes + (warpgroup - 1) * buffers * buffer_bytes;
        if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        meet_warpgroup();
#pragma unroll
        for (int u = 0; u < together; ++u) fill_buffer(pairs[i], out + u * buffer_bytes, part + u);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        meet_warpgroup();
        if (thread == 0) {
#pragma unroll
          for (int u = 0; u < together; ++u) store(&map_c, out + u * buffer_bytes, at.n + (part + u) * 64, m0);
        }
      }
    };
    int held = -1;  // the tile whose results are in `pairs` and not in C
    for (int tile = first; tile < tiles; tile += stride) {
      int before = -1;  // the slot of the step before this one
      for (int step = 0; step < steps; ++step) {
        wait(full_at + 8 * slot, parity);
        const unsigned from = tiles_at + slot * stage_bytes;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < block_k / 16; ++k) {
#pragma unroll
          for (int i = 0; i < PER_CONSUMER; ++i) {
            multiply<BN>(d[i], describe(from + a_offset + i * 64 * 128 + k * 32), describe(from + a_bytes + k * 32),
                         step > 0 || k > 0);
          }
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if constexpr (DEFER > 0) {
          if (held >= 0 && step < groups * DEFER) {
            if (step == 0) at = place_of(held, tiles_m, tiles_n, rank);
#pragma unroll
            for (int g = 0; g < groups; ++g) {
              if ((g + 1) * DEFER == step + 1) put(g);
            }
          }
        }
        asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(IN_FLIGHT) : "memory");
        if constexpr (IN_FLIGHT == 0) {
          if (thread < CLUSTER) arrive(empty_at + 8 * slot, thread);
        } else {
          if (before >= 0 && thread < CLUSTER) arrive(empty_at + 8 * before, thread);
          before = slot;
        }
        advance();
      }
      if constexpr (IN_FLIGHT == 1) {
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (thread < CLUSTER) arrive(empty_at + 8 * before, thread);
      }

      if constexpr (DEFER > 0) {
        if (held >= 0) {
#pragma unroll
          for (int g = 0; g < groups; ++g) {
            if ((g + 1) * DEFER > steps) put(g);
          }
        }
      }
#pragma unroll
      for (int i = 0; i < PER_CONSUMER; ++i) {
#pragma unroll
        for (int j = 0; j < BN / 4; ++j) pairs[i][j] = packed(d[i][2 * j], d[i][2 * j + 1]);
      }
      held = tile;
      if constexpr (DEFER == 0) {
        at = place_of(tile, tiles_m, tiles_n, rank);
#pragma unroll
        for (int g = 0; g < groups; ++g) put(g);
      }
    }
    if constexpr (DEFER > 0) {
      if (held >= 0) {
        at = place_of(held, tiles_m, tiles_n, rank);
        if constexpr (buffers > 0 && STAGES >= parts) {
          // No tile is fetched any more: the rows of A in the stages, which only this warpgroup has read, are buffers, too.
#pragma unroll
          for (int part = 0; part < parts; ++part) {
            const unsigned out = tiles_at + part * stage_bytes + a_offset;
#pragma unroll
            for (int i = 0; i < PER_CONSUMER; ++i) fill_buffer(pairs[i], out + i * buffer_bytes, part);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            meet_warpgroup();
            if (thread == 0) {
#pragma unroll
              for (int i = 0; i < PER_CONSUMER; ++i) {
                store(&map_c, out + i * buffer_bytes, at.n + part * 64, at.m + ((warpgroup - 1) * PER_CONSUMER + i) * 64);
              }
            }
          }
        } else {
#pragma unroll
          for (int g = 0; g < groups; ++g) put(g);
        }
      }
    }
    if constexpr (buffers > 0) {
      if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
  }
  meet_cluster();  // nobody leaves while others may still write to its shared memory
}

// Where rows are not 16-byte aligned the copy engine cannot help: one thread an element.
extern "C" __global__ void hgemm_any(const unsigned short* __restrict__ A, const unsigned short* __restrict__ B,
                                     unsigned short* __restrict__ C, int M, int N, int K) {
  const int m = blockIdx.y * 8 + threadIdx.y;
  const int n = blockIdx.x * 32 + threadIdx.x;
  if (m >= M || n >= N) return;
  const auto real = [](unsigned short x) { return __uint_as_float(static_cast<unsigned>(x) << 16); };
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    sum = fmaf(real(A[static_cast<long long>(m) * K + k]), real(B[static_cast<long long>(n) * K + k]), sum);
  }
  C[static_cast<long long>(m) * N + n] = static_cast<unsigned short>(packed(sum, 0.0f) & 0xffffu);
}
