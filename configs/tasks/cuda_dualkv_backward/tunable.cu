// Gradients of attention with a shared prompt on Hopper's tensor cores (wgmma, sm_90a). First the forward pass of
// cuda_dualkv_forward/tunable.cu. Then a block holds 128 keys and values of one head, and the sums of their gradients in float32
// registers, while it walks over all queries that see them: for keys of the prompt those of all responses and of all heads that share
// the keys, so these sums need no atomics and are rounded once. One warp fetches (TMA); two warpgroups have 64 keys each. Scores stand
// on their side (keys by queries), so weights and their gradients are operands in registers for the products with do and q; for dq they
// go through shared memory. Sums of dq are added in float32 in memory, in the order in which threads hold them, and rounded last.
// After FlashAttention 3's backward pass (Shah et al., arXiv 2407.08608). The values below are good ones (docs/gpu_kernels.md).
#define BN 128            // kevo: {64, 80, 96, 112, 128, 144, 160, 176}
#define STAGES 2          // kevo: {1, 2, 3}
#define TURNS 1           // kevo: {0, 1}
#define SCHEDULE 1        // kevo: {1, 2}
#define SECTION 1         // kevo: {1, 2, 4, 8}
#define PACK 1            // kevo: {0, 1}
#define QUERY_STAGES 2    // kevo: {1, 2, 3}
#define FLOAT16 0         // 1: float16 instead of bfloat16; a task sets it (docs/tasks.md, `define`)
// kevo: require 2 * STAGES * BN * 256 <= 192 * 1024
// kevo: workspace lse float32 [H, P + T]
// kevo: workspace delta float32 [H, P + T]
// kevo: workspace lse_tiles float32 [ceildiv(P + T, 64) + N + 1, H, 64]
// kevo: workspace delta_tiles float32 [ceildiv(P + T, 64) + N + 1, H, 64]
// kevo: workspace dq_tiles float32 [ceildiv(P + T, 64) + N + 1, H, 64, 128]
// kevo: tensormap map_q(q, [128, H, P + T], [256, 256 * H], [64, PACK == 1 && pow2_ceil(H / G) == H / G && H / G <= 32 ? H / G : 1, PACK == 1 && pow2_ceil(H / G) == H / G && H / G <= 32 ? 128 / (H / G) : 128], [1, 1, 1], 128B, none, 256B)
// kevo: tensormap map_k(k, [128, G, P + T], [256, 256 * G], [64, 1, BN], [1, 1, 1], 128B, none, 256B)
// kevo: tensormap map_v(v, [128, G, P + T], [256, 256 * G], [64, 1, BN], [1, 1, 1], 128B, none, 256B)
// kevo: tensormap back_q(q, [128, H, P + T], [256, 256 * H], [64, 1, 64], [1, 1, 1], 128B, none, 256B)
// kevo: tensormap back_k(k, [128, G, P + T], [256, 256 * G], [64, 1, 128], [1, 1, 1], 128B, none, 256B)
// kevo: tensormap back_v(v, [128, G, P + T], [256, 256 * G], [64, 1, 128], [1, 1, 1], 128B, none, 256B)
// kevo: tensormap back_do(d_o, [128, H, P + T], [256, 256 * H], [64, 1, 64], [1, 1, 1], 128B, none, 256B)
// kevo: memset dq_tiles 0
// kevo: launch shared_prefix<<<device.sms, 384, smem(1024 + 32768 + 512 * STAGES * BN)>>>(map_q, map_k, map_v, offsets, d_o, lse, delta, H, H / G, P, N, P + T, PACK == 1 && pow2_ceil(H / G) == H / G && H / G <= 32 ? log2_ceil(H / G) : 0)
// kevo: launch place_rows<<<(ceildiv(P + T, 64) + N + 1, H), 64>>>(lse, delta, offsets, lse_tiles, delta_tiles, H, P, N, P + T)
// kevo: launch backward<<<(ceildiv(P, 128) + ceildiv(T, 128) + N) * G, 384, smem(1024 + 98304 + QUERY_STAGES * 33280)>>>(back_q, back_k, back_v, back_do, offsets, lse_tiles, delta_tiles, dq_tiles, dk, dv, H, G, P, N, T)
// kevo: launch write_dq<<<(ceildiv(P + T, 64) + N + 1, H), 256>>>(dq_tiles, offsets, dq, H, P, N)

#if FLOAT16
#define ELEMENT "f16"
#else
#define ELEMENT "bf16"
#endif

struct alignas(64) tensor_map {
  unsigned char bytes[128];
};

#define ACCUMULATORS(i)                                                                                     \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define NAMES_32                                                                                                      \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, " \
  "%25, %26, %27, %28, %29, %30, %31"
#define NAMES_40 NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define NAMES_48 NAMES_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define NAMES_56 NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define NAMES_64 NAMES_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define NAMES_72 NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define NAMES_80 NAMES_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define NAMES_88 NAMES_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define LIST_32 ACCUMULATORS(0), ACCUMULATORS(8), ACCUMULATORS(16), ACCUMULATORS(24)
#define LIST_40 LIST_32, ACCUMULATORS(32)
#define LIST_48 LIST_40, ACCUMULATORS(40)
#define LIST_56 LIST_48, ACCUMULATORS(48)
#define LIST_64 LIST_56, ACCUMULATORS(56)
#define LIST_72 LIST_64, ACCUMULATORS(64)
#define LIST_80 LIST_72, ACCUMULATORS(72)
#define LIST_88 LIST_80, ACCUMULATORS(80)

template <int n>
__device__ __forceinline__ void multiply(float (&d)[n / 2], unsigned long long a, unsigned long long b, int keep);
#define MULTIPLY(N, R, A, B, P)                                                                                            \
  template <>                                                                                                        \
  __device__ __forceinline__ void multiply<N>(float(&d)[N / 2], unsigned long long a, unsigned long long b, int keep) { \
    asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %" #P ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N          \
                 "k16.f32." ELEMENT "." ELEMENT " {" NAMES_##R "}, %" #A ", %" #B ", keep, 1, 1, 0, 0;\n}"             \
                 : LIST_##R                                                                                         \
                 : "l"(a), "l"(b), "r"(keep));                                                                       \
  }
MULTIPLY(64, 32, 32, 33, 34)
MULTIPLY(80, 40, 40, 41, 42)
MULTIPLY(96, 48, 48, 49, 50)
MULTIPLY(112, 56, 56, 57, 58)
MULTIPLY(128, 64, 64, 65, 66)
MULTIPLY(144, 72, 72, 73, 74)
MULTIPLY(160, 80, 80, 81, 82)
MULTIPLY(176, 88, 88, 89, 90)

// d += a b, a 64 x 16 in registers, b 16 x 128, its rows along k.
__device__ __forceinline__ void multiply_values(float (&d)[64], const unsigned* a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." ELEMENT "." ELEMENT " {" NAMES_64 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
               : LIST_64
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Tiles of rows of 128 bytes, swizzled; groups of 8 rows are 1024 bytes apart.
__device__ __forceinline__ unsigned long long describe(unsigned address) {
  return static_cast<unsigned long long>((address & 0x3ffffu) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
// The same, read along the other dimension; the next 64 columns are `next` bytes further.
__device__ __forceinline__ unsigned long long describe_transposed(unsigned address, unsigned next) {
  return static_cast<unsigned long long>((address & 0x3ffffu) >> 4) | (static_cast<unsigned long long>(next >> 4) << 16) |
         (64ull << 32) | (1ull << 62);
}
__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void init_barrier(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
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
__device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void fetch(unsigned to, const tensor_map* map, unsigned barrier, int d, int head, int row) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(d), "r"(head), "r"(row)
      : "memory");
}
__device__ __forceinline__ void begin_multiply() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
__device__ __forceinline__ unsigned packed(float low, float high) {
  unsigned both;
  asm("cvt.rn." ELEMENT "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ float2 unpacked(unsigned both) {
#if FLOAT16
  float2 x;
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
      : "=f"(x.x), "=f"(x.y)
      : "r"(both));
  return x;
#else
  return make_float2(__uint_as_float(both << 16), __uint_as_float(both & 0xffff0000u));
#endif
}
__device__ __forceinline__ float power_of_2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// Four threads hold four words each, by column; afterwards each holds one column's.
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

constexpr int consumers = 2;
constexpr int block_m = 64 * consumers;
constexpr int q_bytes = block_m * 256;

// What a block works on: the positions `first..` of a segment (the prompt, or a response) of `length` rows that begins at row
// `own`. Its keys are `context` rows from the beginning of the arrays, and those of the segment up to its own position.
struct tile {
  int first;
  int length;
  int own;
  int context;
  int head;
  int keys_head;
};
struct sizes {
  int heads;     // of queries
  int group;     // heads of queries for a head of keys
  int prompt;
  int responses;
  int pack_log;  // heads that are rows of one tile, as a logarithm
};

// Number `index` of all tiles; all lanes of a warp together. SECTION heads of keys at the same time; in them the responses, then the
// prompt; the last positions first, because they take longest.
// kevo: begin order
__device__ __forceinline__ bool find_tile(const sizes& z, const int* offsets, int index, tile& t) {
  const int lane = threadIdx.x % 32;
  const int rows = block_m >> z.pack_log;  // positions of a tile
  int total = 0;
  for (int base = 0; base < z.responses; base += 32) {
    const int s = base + lane;
    const int length = s < z.responses ? offsets[s + 1] - offsets[s] : 0;
    total += __reduce_add_sync(~0u, (length + rows - 1) / rows);
  }
  const int prompt_blocks = (z.prompt + rows - 1) / rows;
  const int heads_each = z.group >> z.pack_log;
  const int each = (total + prompt_blocks) * heads_each;
  const int key_heads = z.heads / z.group;
  if (index >= key_heads * each) return false;
  const int section = index / (SECTION * each);
  const int width = min(SECTION, key_heads - section * SECTION);
  const int rest = index - section * SECTION * each;
  t.keys_head = section * SECTION + rest % width;
  const int in_head = rest / width;
  t.head = t.keys_head * z.group + (in_head % heads_each << z.pack_log);
  int at = in_head / heads_each;
  if (at >= total) {
    t = {(prompt_blocks - 1 - (at - total)) * rows, z.prompt, 0, 0, t.head, t.keys_head};
    return true;
  }
  int before = 0;
  for (int base = 0;; base += 32) {
    const int s = base + lane;
    const int from = s < z.responses ? offsets[s] : 0;
    const int length = s < z.responses ? offsets[s + 1] - from : 0;
    int sum = (length + rows - 1) / rows;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, sum, step);
      if (lane >= step) sum += other;
    }
    const unsigned found = __ballot_sync(~0u, before + sum > at);
    if (found != 0) {
      const int who = __ffs(found) - 1;
      const int end = before + __shfl_sync(~0u, sum, who);
      t = {(end - 1 - at) * rows, __shfl_sync(~0u, length, who), z.prompt + __shfl_sync(~0u, from, who), z.prompt, t.head,
           t.keys_head};
      return true;
    }
    before += __shfl_sync(~0u, sum, 31);
  }
}
// kevo: end order

// Blocks of keys: those of the context, then the segment's own.
struct span {
  int context_blocks;
  int blocks;
  int tail;       // the block of the context that is not full, or -1
  int mask_from;  // this block and those behind it are masked
  __device__ __forceinline__ span(const sizes& z, const tile& t) {
    const int last = min(t.first + (block_m >> z.pack_log), t.length);
    context_blocks = (t.context + BN - 1) / BN;
    blocks = context_blocks + (last + BN - 1) / BN;
    tail = t.context % BN != 0 ? context_blocks - 1 : -1;
    mask_from = context_blocks + (t.first + 1) / BN;
  }
};

__device__ __forceinline__ void mask_scores(float (&s)[BN / 2], int limit0, int limit1) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      if (j * 8 + column + u % 2 >= (u < 2 ? limit0 : limit1)) s[4 * j + u] = __int_as_float(0xff800000);  // minus infinity
    }
  }
}
constexpr float to_log2 = 0.08838834764831845f * 1.4426950408889634f;  // log2(e) / sqrt(128)

// kevo: begin softmax
__device__ __forceinline__ void soften(float (&s)[BN / 2], float (&largest)[2], float (&total)[2], float (&rescale)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float most = largest[half];
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) most = fmaxf(most, fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1]));
    most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
    most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
    rescale[half] = power_of_2((largest[half] - most) * to_log2);
    largest[half] = most;
    const float shift = -most * to_log2;
    float sum0 = 0.0f;
    float sum1 = 0.0f;
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
      float& a = s[4 * j + 2 * half];
      float& b = s[4 * j + 2 * half + 1];
      a = power_of_2(fmaf(a, to_log2, shift));
      b = power_of_2(fmaf(b, to_log2, shift));
      sum0 += a;
      sum1 += b;
    }
    total[half] = total[half] * rescale[half] + (sum0 + sum1);
  }
}
// kevo: end softmax
// Also adds up what is multiplied: the rounded weights. Divided by their sum, o is a mean of values; with the sum of the exact weights
// all of it would be too large or too small where the weights are alike, and so would be the difference dp - delta.
__device__ __forceinline__ void pack_weights(unsigned (&p)[BN / 4], const float (&s)[BN / 2], float (&rounded)[2], const float (&rescale)[2]) {
  float sum[2] = {};
#pragma unroll
  for (int i = 0; i < BN / 4; ++i) {
    p[i] = packed(s[2 * i], s[2 * i + 1]);
    const float2 both = unpacked(p[i]);
    sum[i % 2] += both.x + both.y;
  }
  rounded[0] = rounded[0] * rescale[0] + sum[0];
  rounded[1] = rounded[1] * rescale[1] + sum[1];
}
__device__ __forceinline__ void multiply_scores(float (&s)[BN / 2], unsigned q, unsigned k) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    multiply<BN>(s, describe(q + i / 4 * (block_m * 128) + i % 4 * 32), describe(k + i / 4 * (BN * 128) + i % 4 * 32), i > 0);
  }
}
__device__ __forceinline__ void add_values(float (&o)[64], const unsigned (&p)[BN / 4], unsigned v) {
#pragma unroll
  for (int i = 0; i < BN / 16; ++i) multiply_values(o, p + 4 * i, describe_transposed(v + i * 2048, BN * 128));
}

extern __shared__ unsigned char raw[];
__device__ unsigned next_tile = 0;
__device__ unsigned finished = 0;

// SCHEDULE 1: block i takes tiles i, i + gridDim.x, ...; 2: whichever is next.
extern "C" __global__ void __launch_bounds__(384, 1)
    shared_prefix(const __grid_constant__ tensor_map map_q, const __grid_constant__ tensor_map map_k,
                  const __grid_constant__ tensor_map map_v, const int* offsets, const unsigned short* d_o, float* lse, float* delta, int H, int group,
                  int P, int N, int rows, int pack_log) {
  const sizes z = {H, group, P, N, pack_log};
  constexpr int tile_bytes = BN * 256;
  __shared__ unsigned long long barriers[2 + 4 * STAGES];
  __shared__ tile current;
  const unsigned q_at = (shared_address(raw) + 1023u) & ~1023u;
  const unsigned k_at = q_at + q_bytes;
  const unsigned v_at = k_at + STAGES * tile_bytes;
  const unsigned q_full = shared_address(barriers);
  const unsigned q_empty = q_full + 8;
  const unsigned k_full = q_full + 16;
  const unsigned k_empty = k_full + 8 * STAGES;
  const unsigned v_full = k_empty + 8 * STAGES;
  const unsigned v_empty = v_full + 8 * STAGES;
  const int warpgroup = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    init_barrier(q_full, 1);
    init_barrier(q_empty, consumers);
    for (int s = 0; s < STAGES; ++s) {
      init_barrier(k_full + 8 * s, 1);
      init_barrier(v_full + 8 * s, 1);
      init_barrier(k_empty + 8 * s, consumers);
      init_barrier(v_empty + 8 * s, consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(BN <= 160 ? 40 : 24));
    if (threadIdx.x < 32) {
      int k_slot = 0;
      unsigned k_parity = 1;
      int v_slot = 0;
      unsigned v_parity = 1;
      unsigned q_parity = 1;
      int index = blockIdx.x;
      if constexpr (SCHEDULE == 2) {
        if (threadIdx.x == 0) index = atomicAdd(&next_tile, 1u);
        index = __shfl_sync(~0u, index, 0);
      }
#pragma unroll 1
      while (true) {
        tile t;
        const bool any = find_tile(z, offsets, index, t);
        if (threadIdx.x == 0) {
          wait(q_empty, q_parity);
          q_parity ^= 1;
          if (!any) t.head = -1;
          current = t;
          if (!any) {
            arrive(q_full);
          } else {
            expect(q_full, q_bytes);
            const int q_row = t.own + t.first;
            fetch(q_at, &map_q, q_full, 0, t.head, q_row);
            fetch(q_at + q_bytes / 2, &map_q, q_full, 64, t.head, q_row);
            const span s(z, t);
            const auto row_of = [&](int block) {
              return block < s.context_blocks ? block * BN : t.own + (block - s.context_blocks) * BN;
            };
#pragma unroll 1
            for (int block = 0; block <= s.blocks; ++block) {
              if (block < s.blocks) {
                const int row = row_of(block);
                wait(k_empty + 8 * k_slot, k_parity);
                expect(k_full + 8 * k_slot, tile_bytes);
                fetch(k_at + k_slot * tile_bytes, &map_k, k_full + 8 * k_slot, 0, t.keys_head, row);
                fetch(k_at + k_slot * tile_bytes + tile_bytes / 2, &map_k, k_full + 8 * k_slot, 64, t.keys_head, row);
                if (++k_slot == STAGES) {
                  k_slot = 0;
                  k_parity ^= 1;
                }
              }
              if (block > 0) {
                const int row = row_of(block - 1);
                wait(v_empty + 8 * v_slot, v_parity);
                expect(v_full + 8 * v_slot, tile_bytes);
                fetch(v_at + v_slot * tile_bytes, &map_v, v_full + 8 * v_slot, 0, t.keys_head, row);
                fetch(v_at + v_slot * tile_bytes + tile_bytes / 2, &map_v, v_full + 8 * v_slot, 64, t.keys_head, row);
                if (++v_slot == STAGES) {
                  v_slot = 0;
                  v_parity ^= 1;
                }
              }
            }
          }
        }
        __syncwarp();
        if (!any) break;
        if constexpr (SCHEDULE == 1) {
          index += gridDim.x;
        } else {
          if (threadIdx.x == 0) index = atomicAdd(&next_tile, 1u);
          index = __shfl_sync(~0u, index, 0);
        }
      }
      if constexpr (SCHEDULE == 2) {
        if (threadIdx.x == 0) {
          __threadfence();
          if (atomicAdd(&finished, 1u) == gridDim.x - 1) {
            next_tile = 0;
            finished = 0;
          }
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(BN <= 160 ? 232 : 240));
    const int thread = threadIdx.x % 128;
    const int who = warpgroup - 1;
    const auto my_turn = [&] {
      if constexpr (TURNS) asm volatile("bar.sync %0, 256;" ::"r"(1 + who) : "memory");
    };
    const auto your_turn = [&] {
      if constexpr (TURNS) asm volatile("bar.arrive %0, 256;" ::"r"(2 - who) : "memory");
    };
    if (who == 1) your_turn();
    int k_slot = 0;
    unsigned k_parity = 0;
    int v_slot = 0;
    unsigned v_parity = 0;
    unsigned q_parity = 0;
    const auto wait_k = [&] { wait(k_full + 8 * k_slot, k_parity); };
    const auto release_k = [&] {
      if (thread == 0) arrive(k_empty + 8 * k_slot);
      if (++k_slot == STAGES) {
        k_slot = 0;
        k_parity ^= 1;
      }
    };
    const auto wait_v = [&] { wait(v_full + 8 * v_slot, v_parity); };
    const auto release_v = [&] {
      if (thread == 0) arrive(v_empty + 8 * v_slot);
      if (++v_slot == STAGES) {
        v_slot = 0;
        v_parity ^= 1;
      }
    };
    const int row = who * 64 + thread / 32 * 16 + thread % 32 / 4;
    const unsigned my_q = q_at + who * 64 * 128;
    while (true) {
      wait(q_full, q_parity);
      q_parity ^= 1;
      const tile t = current;
      if (t.head < 0) break;
      const span range(z, t);
      const int position0 = t.first + (row >> pack_log);
      const int position1 = t.first + ((row + 8) >> pack_log);
      const auto mask = [&](float (&s)[BN / 2], int block) {
        if (block >= range.mask_from) {
          const int from = (block - range.context_blocks) * BN;
          mask_scores(s, position0 + 1 - from, position1 + 1 - from);
        } else if (block == range.tail) {
          mask_scores(s, t.context - block * BN, t.context - block * BN);
        }
      };
      float out[64] = {};
      float s[BN / 2];
      unsigned p[BN / 4];
      float largest[2] = {-1e30f, -1e30f};
      float total[2] = {};
      float rescale[2];
      float rounded[2] = {};

      wait_k();
      begin_multiply();
      multiply_scores(s, my_q, k_at + k_slot * tile_bytes);
      commit();
      wait_for_products<0>();
      release_k();
      mask(s, 0);
      soften(s, largest, total, rescale);
      pack_weights(p, s, rounded, rescale);
      for (int block = 1; block < range.blocks; ++block) {
        wait_k();
        my_turn();
        begin_multiply();
        multiply_scores(s, my_q, k_at + k_slot * tile_bytes);
        commit();
        wait_v();
        add_values(out, p, v_at + v_slot * tile_bytes);
        commit();
        your_turn();
        wait_for_products<1>();
        release_k();
        mask(s, block);
        soften(s, largest, total, rescale);
        wait_for_products<0>();
        release_v();
#pragma unroll
        for (int i = 0; i < 64; ++i) out[i] *= rescale[i / 2 % 2];
        pack_weights(p, s, rounded, rescale);
      }
      if (thread == 0) arrive(q_empty);
      wait_v();
      begin_multiply();
      add_values(out, p, v_at + v_slot * tile_bytes);
      commit();
      wait_for_products<0>();
      release_v();

#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float sum = total[half];
        sum += __shfl_xor_sync(~0u, sum, 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        float weights = rounded[half];
        weights += __shfl_xor_sync(~0u, weights, 1);
        weights += __shfl_xor_sync(~0u, weights, 2);
        const int position = half ? position1 : position0;
        const int head = t.head + ((row + 8 * half) & ((1 << pack_log) - 1));
        const bool inside = position < t.length;
        const unsigned short* const gradient = d_o + (static_cast<long long>(t.own + position) * H + head) * 128 + thread % 4 * 2;
        float product = 0.0f;
#pragma unroll
        for (int j = 0; j < 16; ++j) {
          const float2 two = unpacked(inside ? *reinterpret_cast<const unsigned*>(gradient + 8 * j) : 0u);
          product += out[4 * j + 2 * half] * two.x + out[4 * j + 2 * half + 1] * two.y;
        }
        product += __shfl_xor_sync(~0u, product, 1);
        product += __shfl_xor_sync(~0u, product, 2);
        if (inside && thread % 4 == 0) {
          const long long to = static_cast<long long>(head) * rows + t.own + position;
          lse[to] = largest[half] * 0.08838834764831845f + logf(sum);
          delta[to] = product / weights;
        }
      }
    }
  }
}


struct rows_of_tile {
  int first;   // row of the packed arrays
  int valid;   // rows of it
};
constexpr int tile_rows = 64;

// Tile `index` of 64 rows: those of the prompt, then those of each response.
__device__ __forceinline__ rows_of_tile find_rows(const int* offsets, int P, int N, int index) {
  const int of_prompt = (P + tile_rows - 1) / tile_rows;
  if (index < of_prompt) return {index * tile_rows, min(tile_rows, P - index * tile_rows)};
  int at = index - of_prompt;
  for (int s = 0; s < N; ++s) {
    const int from = offsets[s];
    const int length = offsets[s + 1] - from;
    const int tiles = (length + tile_rows - 1) / tile_rows;
    if (at < tiles) return {P + from + at * tile_rows, min(tile_rows, length - at * tile_rows)};
    at -= tiles;
  }
  return {0, 0};
}

// The backward pass multiplies weights by this power of 2: those of rows that see thousands of keys are below 2^-14, where float16 has
// fewer bits. 2^15 times a weight of 1 is below its largest number, 65504. The range of bfloat16 needs no factor.
constexpr int lift_log2 = FLOAT16 ? 15 : 0;
constexpr float lowered = 1.0f / (1 << lift_log2);
// The difference to delta, which is lowered already.
__device__ __forceinline__ float without_delta(float dp, float delta) { return FLOAT16 ? fmaf(dp, lowered, -delta) : dp - delta; }

// For each tile of 64 rows: what exponents of lifted weights are reduced by (lse to base 2), and lowered delta. Rows that do not exist
// get weights of 0.
extern "C" __global__ void __launch_bounds__(64)
    place_rows(const float* lse, const float* delta, const int* offsets, float* lse_tiles, float* delta_tiles, int H, int P, int N,
               int rows) {
  const rows_of_tile t = find_rows(offsets, P, N, blockIdx.x);
  if (t.valid == 0) return;
  const int i = threadIdx.x;
  const bool inside = i < t.valid;
  const long long from = static_cast<long long>(blockIdx.y) * rows + t.first + i;
  const long long to = (static_cast<long long>(blockIdx.x) * H + blockIdx.y) * tile_rows + i;
  lse_tiles[to] = inside ? lse[from] * 1.4426950408889634f - lift_log2 : __int_as_float(0x7f800000);  // infinity
  delta_tiles[to] = inside ? delta[from] * lowered : 0.0f;
}

// d = a b + (keep ? d : 0), 64 x 64; a and b from shared memory, whose rows run along k or along the other dimension (_t).
__device__ __forceinline__ void multiply_tt(float (&d)[32], unsigned long long a, unsigned long long b, int keep) {
  asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32." ELEMENT "." ELEMENT
               " {" NAMES_32 "}, %32, %33, keep, 1, 1, 1, 1;\n}"
               : LIST_32
               : "l"(a), "l"(b), "r"(keep));
}
__device__ __forceinline__ void fetch_line(unsigned to, const float* from, unsigned barrier, unsigned bytes) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
               "r"(bytes), "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void store_matrices(unsigned to, const unsigned* w) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
               : "memory");
}
__device__ __forceinline__ void add_to(float* to, float a, float b, float c, float d) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}

struct note {
  int mode;   // 0: all keys are seen; 1: causal; 2: keys from the end of the prompt on are not seen
  int first;  // position of the first query
  int tile;
  int head;
};
constexpr int key_rows = 128;
constexpr int key_bytes = key_rows * 256;
constexpr int query_bytes = tile_rows * 256;

extern "C" __global__ void __launch_bounds__(384, 1)
    backward(const __grid_constant__ tensor_map map_q, const __grid_constant__ tensor_map map_k, const __grid_constant__ tensor_map map_v,
             const __grid_constant__ tensor_map map_do, const int* offsets, const float* lse_tiles, const float* delta_tiles,
             float* dq_tiles, unsigned short* dk, unsigned short* dv, int H, int G, int P, int N, int T) {
  __shared__ unsigned long long barriers[1 + 3 * QUERY_STAGES];
  __shared__ note notes[QUERY_STAGES];
  __shared__ int place[6];
  const int group = H / G;
  const int prompt_blocks = (P + key_rows - 1) / key_rows;
  // place: head of keys, block in the segment, length of the segment, its first row, its first tile of queries, is it the prompt?
  if (threadIdx.x == 0) {
    int index = blockIdx.x;
    place[1] = -1;
    if (index < prompt_blocks * G) {
      place[0] = index / prompt_blocks;
      place[1] = index % prompt_blocks;
      place[2] = P;
      place[3] = 0;
      place[4] = 0;
      place[5] = 1;
    } else {
      index -= prompt_blocks * G;
      const int most = (T + key_rows - 1) / key_rows + N;
      place[0] = index / most;
      int at = index % most;
      int tiles = (P + tile_rows - 1) / tile_rows;
      for (int s = 0; s < N; ++s) {
        const int from = offsets[s];
        const int length = offsets[s + 1] - from;
        const int blocks = (length + key_rows - 1) / key_rows;
        if (at < blocks) {
          place[1] = at;
          place[2] = length;
          place[3] = P + from;
          place[4] = tiles;
          place[5] = 0;
          break;
        }
        at -= blocks;
        tiles += (length + tile_rows - 1) / tile_rows;
      }
    }
  }
  const unsigned k_at = (shared_address(raw) + 1023u) & ~1023u;
  const unsigned v_at = k_at + key_bytes;
  const unsigned q_at = v_at + key_bytes;
  const unsigned do_at = q_at + QUERY_STAGES * query_bytes;
  const unsigned ds_at = do_at + QUERY_STAGES * query_bytes;
  const unsigned lines_at = ds_at + 2 * key_rows * 128;
  const unsigned kv_full = shared_address(barriers);
  const unsigned q_full = kv_full + 8;
  const unsigned do_full = q_full + 8 * QUERY_STAGES;
  const unsigned empty = do_full + 8 * QUERY_STAGES;
  if (threadIdx.x == 0) {
    init_barrier(kv_full, 1);
    for (int s = 0; s < QUERY_STAGES; ++s) {
      init_barrier(q_full + 8 * s, 1);
      init_barrier(do_full + 8 * s, 1);
      init_barrier(empty + 8 * s, 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const int keys_head = place[0];
  const int block = place[1];
  const int length = place[2];
  const int own = place[3];
  const int is_prompt = place[5];
  if (block < 0) return;
  const int warpgroup = threadIdx.x / 128;
  int slot = 0;

  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 0) {
      expect(kv_full, 2 * key_bytes);
      const int row = own + block * key_rows;
      fetch(k_at, &map_k, kv_full, 0, keys_head, row);
      fetch(k_at + key_bytes / 2, &map_k, kv_full, 64, keys_head, row);
      fetch(v_at, &map_v, kv_full, 0, keys_head, row);
      fetch(v_at + key_bytes / 2, &map_v, kv_full, 64, keys_head, row);
      unsigned parity = 1;
      for (int head = keys_head * group; head < (keys_head + 1) * group; ++head) {
        int segment = -1;  // the one of the keys
        int first_row = own;
        int rows_left = length;
        int tile = place[4];
        int position = block * key_rows;  // the first queries that see these keys
        tile += position / tile_rows;
#pragma unroll 1
        while (true) {
          while (position >= rows_left) {  // the next segment
            if (!is_prompt || ++segment >= N) break;
            const int from = offsets[segment];
            first_row = P + from;
            rows_left = offsets[segment + 1] - from;
            position = 0;
          }
          if (position >= rows_left) break;
          wait(empty + 8 * slot, parity);
          const bool same = segment < 0;
          const bool diagonal = same && position < (block + 1) * key_rows - 1;
          notes[slot] = {diagonal ? 1 : !same && (block + 1) * key_rows > P ? 2 : 0, position, tile, head};
          expect(q_full + 8 * slot, query_bytes + 512);
          const unsigned q_to = q_at + slot * query_bytes;
          fetch(q_to, &map_q, q_full + 8 * slot, 0, head, first_row + position);
          fetch(q_to + query_bytes / 2, &map_q, q_full + 8 * slot, 64, head, first_row + position);
          const long long line = (static_cast<long long>(tile) * H + head) * tile_rows;
          fetch_line(lines_at + slot * 512, lse_tiles + line, q_full + 8 * slot, 256);
          fetch_line(lines_at + slot * 512 + 256, delta_tiles + line, q_full + 8 * slot, 256);
          expect(do_full + 8 * slot, query_bytes);
          const unsigned do_to = do_at + slot * query_bytes;
          fetch(do_to, &map_do, do_full + 8 * slot, 0, head, first_row + position);
          fetch(do_to + query_bytes / 2, &map_do, do_full + 8 * slot, 64, head, first_row + position);
          if (++slot == QUERY_STAGES) {
            slot = 0;
            parity ^= 1;
          }
          position += tile_rows;
          ++tile;
        }
      }
      // The end.
      wait(empty + 8 * slot, parity);
      notes[slot] = {-1, 0, 0, 0};
      arrive(q_full + 8 * slot);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const int thread = threadIdx.x % 128;
    const int lane = thread % 32;
    const int who = warpgroup - 1;
    const int key = block * key_rows + who * 64 + thread / 32 * 16 + lane / 4;
    const unsigned my_k = k_at + who * 64 * 128;
    const unsigned my_v = v_at + who * 64 * 128;
    // Where this thread's part of a store of four 8 x 8 matrices begins: row, and the place of a 16-byte piece.
    const int store_row = who * 64 + thread / 32 * 16 + lane % 16;
    const unsigned store_at = ds_at + store_row * 128;
    float d_k[64] = {};
    float d_v[64] = {};
    unsigned parity = 0;
    int buffer = 0;
    wait(kv_full, 0);
    while (true) {
      wait(q_full + 8 * slot, parity);
      const note n = notes[slot];
      if (n.mode < 0) break;
      const unsigned q_tile = q_at + slot * query_bytes;
      const unsigned do_tile = do_at + slot * query_bytes;
      float s[32];
      float dp[32];
      begin_multiply();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        multiply<64>(s, describe(my_k + i / 4 * (key_bytes / 2) + i % 4 * 32),
                     describe(q_tile + i / 4 * (query_bytes / 2) + i % 4 * 32), i > 0);
      }
      commit();
      wait(do_full + 8 * slot, parity);
      begin_multiply();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        multiply<64>(dp, describe(my_v + i / 4 * (key_bytes / 2) + i % 4 * 32),
                     describe(do_tile + i / 4 * (query_bytes / 2) + i % 4 * 32), i > 0);
      }
      commit();
      wait_for_products<1>();
      const unsigned line = lines_at + slot * 512 + lane % 4 * 8;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float l0, l1;
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(l0), "=f"(l1) : "r"(line + j * 32));
        s[4 * j] = power_of_2(fmaf(s[4 * j], to_log2, -l0));
        s[4 * j + 1] = power_of_2(fmaf(s[4 * j + 1], to_log2, -l1));
        s[4 * j + 2] = power_of_2(fmaf(s[4 * j + 2], to_log2, -l0));
        s[4 * j + 3] = power_of_2(fmaf(s[4 * j + 3], to_log2, -l1));
      }
      if (n.mode != 0) {
#pragma unroll
        for (int i = 0; i < 32; ++i) {
          const int last = n.mode == 1 ? n.first + i / 4 * 8 + lane % 4 * 2 + i % 2 : P - 1;
          if (key + i / 2 % 2 * 8 > last) s[i] = 0.0f;
        }
      }
      unsigned p[16];
#pragma unroll
      for (int i = 0; i < 16; ++i) p[i] = packed(s[2 * i], s[2 * i + 1]);
      wait_for_products<0>();
      unsigned ds[16];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float l0, l1;
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(l0), "=f"(l1) : "r"(line + 256 + j * 32));
        ds[2 * j] = packed(s[4 * j] * without_delta(dp[4 * j], l0), s[4 * j + 1] * without_delta(dp[4 * j + 1], l1));
        ds[2 * j + 1] = packed(s[4 * j + 2] * without_delta(dp[4 * j + 2], l0), s[4 * j + 3] * without_delta(dp[4 * j + 3], l1));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        store_matrices(store_at + buffer * (key_rows * 128) + ((2 * i + lane / 16) ^ (store_row % 8)) * 16, ds + 4 * i);
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      begin_multiply();
#pragma unroll
      for (int i = 0; i < 4; ++i) multiply_values(d_v, p + 4 * i, describe_transposed(do_tile + i * 2048, query_bytes / 2));
      commit();
      asm volatile("bar.sync 1, 256;" ::: "memory");
      float dq[32];
      begin_multiply();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        multiply_tt(dq, describe_transposed(ds_at + buffer * (key_rows * 128) + i * 2048, 0),
                    describe_transposed(k_at + who * (key_bytes / 2) + i * 2048, 0), i > 0);
      }
      commit();
#pragma unroll
      for (int i = 0; i < 4; ++i) multiply_values(d_k, ds + 4 * i, describe_transposed(q_tile + i * 2048, query_bytes / 2));
      commit();
      wait_for_products<1>();
      float* const to = dq_tiles + (((static_cast<long long>(n.tile) * H + n.head) * 2 + who) * (tile_rows * 64)) + thread * 4;
#pragma unroll
      for (int i = 0; i < 8; ++i) add_to(to + i * 512, dq[4 * i], dq[4 * i + 1], dq[4 * i + 2], dq[4 * i + 3]);
      wait_for_products<0>();
      if (thread == 0) arrive(empty + 8 * slot);
      if (++slot == QUERY_STAGES) {
        slot = 0;
        parity ^= 1;
      }
      buffer ^= 1;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool inside = key + 8 * half < length;
      const long long to = (static_cast<long long>(own + key + 8 * half) * G + keys_head) * 128 + 8 * (thread % 4);
#pragma unroll
      for (int j = 0; j < 16; j += 4) {
        unsigned words[4];
#pragma unroll
        for (int u = 0; u < 4; ++u) words[u] = packed(d_v[4 * (j + u) + 2 * half] * lowered, d_v[4 * (j + u) + 2 * half + 1] * lowered);
        transpose_quad(words);
        if (inside) *reinterpret_cast<uint4*>(dv + to + 8 * j) = make_uint4(words[0], words[1], words[2], words[3]);
        constexpr float scale = 0.08838834764831845f;
#pragma unroll
        for (int u = 0; u < 4; ++u) words[u] = packed(d_k[4 * (j + u) + 2 * half] * scale, d_k[4 * (j + u) + 2 * half + 1] * scale);
        transpose_quad(words);
        if (inside) *reinterpret_cast<uint4*>(dk + to + 8 * j) = make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }
}

// From the order in which threads hold sums to rows of the result.
extern "C" __global__ void __launch_bounds__(256)
    write_dq(const float* dq_tiles, const int* offsets, unsigned short* dq, int H, int P, int N) {
  const int head = blockIdx.y;
  const rows_of_tile t = find_rows(offsets, P, N, blockIdx.x);
  if (t.valid == 0) return;
  const int who = threadIdx.x / 128;
  const int thread = threadIdx.x % 128;
  const float* const from = dq_tiles + ((static_cast<long long>(blockIdx.x) * H + head) * 2 + who) * (tile_rows * 64) + thread * 4;
  const int row = thread / 32 * 16 + thread % 32 / 4;
  constexpr float scale = 0.08838834764831845f;
#pragma unroll
  for (int j = 0; j < 8; j += 4) {
    float4 four[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) four[u] = *reinterpret_cast<const float4*>(from + (j + u) * 512);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned words[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        words[u] = half == 0 ? packed(four[u].x * scale, four[u].y * scale) : packed(four[u].z * scale, four[u].w * scale);
      }
      transpose_quad(words);
      const int at = row + 8 * half;
      if (at < t.valid) {
        const long long to = (static_cast<long long>(t.first + at) * H + head) * 128 + who * 64 + 8 * (j + thread % 4);
        *reinterpret_cast<uint4*>(dq + to) = make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }
}
