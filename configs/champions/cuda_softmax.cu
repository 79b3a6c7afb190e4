// y = softmax(x) along rows, one read and one write of memory: a row is held in registers. MODE 0: a block of threads a
// row, loads straight from memory. MODE 1: a block stays and takes row after row, which the copy engine has brought to
// shared memory up to STAGES rows ahead; MODE 2: which also takes the results away. The maximum and the sum are made in one pass: every thread works with the
// maximum of its own elements, and the block's sum and maximum meet in one exchange (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", arXiv 1805.02867).
#define MODE 0           // kevo: {0, 1, 2}
#define THREADS 1024       // kevo: {32, 64, 128, 256, 512, 1024}
#define VECTORS 2        // kevo: {1, 2, 4, 8, 16, 32}
#define STAGES 2         // kevo: {1, 2, 3, 4, 6}
#define BLOCKS_PER_SM 1  // kevo: {1, 2, 3, 4, 6, 8}
#define LOAD_HINT 0      // kevo: {0, 1, 2}
#define STORE_HINT 0     // kevo: {0, 1, 2, 3}
// kevo: require THREADS * BLOCKS_PER_SM <= 2048 && THREADS * BLOCKS_PER_SM * (4 * VECTORS + 16) <= 65536
// kevo: require MODE < 2 || STAGES > 1
// kevo: require MODE == 0 || 16 * THREADS * VECTORS * STAGES * BLOCKS_PER_SM <= 220 * 1024
// kevo: when MODE == 0 && N % 4 == 0 && N <= 4 * THREADS * VECTORS: launch softmax_held<<<M, THREADS>>>(x, y, N)
// kevo: when MODE >= 1 && N % 4 == 0 && N <= 4 * THREADS * VECTORS: launch softmax_staged<<<min(M, device.sms * BLOCKS_PER_SM), THREADS, smem(16 * THREADS * VECTORS * STAGES)>>>(x, y, M, N)
// kevo: when N % 4 != 0 || N > 4 * THREADS * VECTORS: launch softmax_any<<<M, THREADS>>>(x, y, N)

constexpr float log2_e = 1.4426950408889634f;
constexpr float lowest = -3.402823466e38f;

// kevo: begin vector_load
__device__ __forceinline__ float4 load(const float4* at) {
  if constexpr (LOAD_HINT == 1) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at));
    return v;
  }
  if constexpr (LOAD_HINT == 2) {
    float4 v;
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at), "l"(policy));
    return v;
  }
  return *at;
}
// kevo: end vector_load
__device__ __forceinline__ void store(float4* at, float4 v) {
  if constexpr (STORE_HINT == 1) {
    __stcs(at, v);
  } else if constexpr (STORE_HINT == 2) {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("st.global.L1::no_allocate.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(at), "f"(v.x),
                 "f"(v.y), "f"(v.z), "f"(v.w), "l"(policy)
                 : "memory");
  } else if constexpr (STORE_HINT == 3) {
    __stwt(at, v);
  } else {
    *at = v;
  }
}

// The running maximum and the sum of exp(element - maximum).
struct normalizer {
  float maximum = lowest;
  float sum = 0.0f;
};
// kevo: begin merge
__device__ __forceinline__ normalizer merge(normalizer a, normalizer b) {
  normalizer r;
  r.maximum = fmaxf(a.maximum, b.maximum);
  r.sum = a.sum * exp2f((a.maximum - r.maximum) * log2_e) + b.sum * exp2f((b.maximum - r.maximum) * log2_e);
  return r;
}
// kevo: end merge
// Over all threads of the block, in every thread. `parts` must not be in use by a previous call: rows take turns.
__device__ __forceinline__ normalizer merge_block(normalizer mine, normalizer* parts) {
  normalizer warp = mine;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    warp.maximum = fmaxf(warp.maximum, __shfl_xor_sync(~0u, warp.maximum, distance));
  }
  warp.sum = mine.sum * exp2f((mine.maximum - warp.maximum) * log2_e);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) warp.sum += __shfl_xor_sync(~0u, warp.sum, distance);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = warp;
  __syncthreads();
  // Every warp merges the parts of all warps, one a lane.
  constexpr int warps = THREADS / 32;
  const normalizer part = parts[threadIdx.x % warps];
  normalizer all = part;
#pragma unroll
  for (int distance = warps / 2; distance > 0; distance /= 2) {
    all.maximum = fmaxf(all.maximum, __shfl_xor_sync(~0u, all.maximum, distance));
  }
  all.sum = part.sum * exp2f((part.maximum - all.maximum) * log2_e);
#pragma unroll
  for (int distance = warps / 2; distance > 0; distance /= 2) all.sum += __shfl_xor_sync(~0u, all.sum, distance);
  return all;
}

// kevo: begin exponentials
// Turns the elements of a thread into exp(element - the thread's maximum).
__device__ __forceinline__ normalizer exponentials(float (&v)[4 * VECTORS], int N) {
  normalizer mine;
#pragma unroll
  for (int i = 0; i < 4 * VECTORS; ++i) mine.maximum = fmaxf(mine.maximum, v[i]);
  const float shift = mine.maximum * log2_e;
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    if (4 * (i * THREADS + threadIdx.x) < N) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        v[4 * i + u] = exp2f(fmaf(v[4 * i + u], log2_e, -shift));
        mine.sum += v[4 * i + u];
      }
    }
  }
  return mine;
}
// kevo: end exponentials
template <bool to_shared = false>
__device__ __forceinline__ void write_row(float* y, const float (&v)[4 * VECTORS], float factor, int N) {
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = 4 * (i * THREADS + threadIdx.x);
    if (at < N) {
      const float4 four =
          make_float4(v[4 * i] * factor, v[4 * i + 1] * factor, v[4 * i + 2] * factor, v[4 * i + 3] * factor);
      if constexpr (to_shared) {
        *reinterpret_cast<float4*>(y + at) = four;
      } else {
        store(reinterpret_cast<float4*>(y + at), four);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    softmax_held(const float* __restrict__ x, float* __restrict__ y, int N) {
  __shared__ normalizer parts[THREADS / 32];
  const long long row = static_cast<long long>(blockIdx.x) * N;
  float v[4 * VECTORS];
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = 4 * (i * THREADS + threadIdx.x);
    const float4 four = at < N ? load(reinterpret_cast<const float4*>(x + row + at))
                               : make_float4(lowest, lowest, lowest, lowest);
    v[4 * i] = four.x;
    v[4 * i + 1] = four.y;
    v[4 * i + 2] = four.z;
    v[4 * i + 3] = four.w;
  }
  const normalizer mine = exponentials(v, N);
  const normalizer all = merge_block(mine, parts);
  write_row(y + row, v, exp2f((mine.maximum - all.maximum) * log2_e) / all.sum, N);
}

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
// Asks the copy engine for a row; `arrived` completes when all of it is there.
__device__ __forceinline__ void fetch(float* to, const float* from, int bytes, unsigned long long* arrived) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(arrived)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(arrived))
               : "memory");
}
// Has the copy engine take away what the threads of the block have written; returns once all rows but this one have
// left shared memory.
__device__ __forceinline__ void send(float* to, const float* from, int bytes) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  }
}
__device__ __forceinline__ void wait(unsigned long long* arrived, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(shared_address(arrived)),
      "r"(parity)
      : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    softmax_staged(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  extern __shared__ __align__(128) float rows[];
  __shared__ normalizer parts[2][THREADS / 32];
  __shared__ unsigned long long arrived[STAGES];
  constexpr int pitch = 4 * THREADS * VECTORS;
  const int step = gridDim.x;
  const int bytes = 4 * N;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&arrived[s])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (int s = 0; s < STAGES; ++s) {
      const long long row = blockIdx.x + static_cast<long long>(s) * step;
      if (row < M) fetch(rows + s * pitch, x + row * N, bytes, &arrived[s]);
    }
  }
  __syncthreads();
  int slot = 0;
  unsigned parity = 0;
  unsigned turn = 0;
  for (long long row = blockIdx.x; row < M; row += step) {
    wait(&arrived[slot], parity);
    const float* from = rows + slot * pitch;
    float v[4 * VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      const int at = 4 * (i * THREADS + threadIdx.x);
      const float4 four = at < N ? *reinterpret_cast<const float4*>(from + at)
                                 : make_float4(lowest, lowest, lowest, lowest);
      v[4 * i] = four.x;
      v[4 * i + 1] = four.y;
      v[4 * i + 2] = four.z;
      v[4 * i + 3] = four.w;
    }
    const normalizer mine = exponentials(v, N);
    const normalizer all = merge_block(mine, parts[turn]);  // with a barrier: all threads have read the slot
    const float factor = exp2f((mine.maximum - all.maximum) * log2_e) / all.sum;
    if constexpr (MODE == 1) {
      const long long next = row + static_cast<long long>(STAGES) * step;
      if (threadIdx.x == 0 && next < M) fetch(rows + slot * pitch, x + next * N, bytes, &arrived[slot]);
      write_row(y + row * N, v, factor, N);
    } else {
      write_row<true>(rows + slot * pitch, v, factor, N);
      send(y + row * N, rows + slot * pitch, bytes);
      const long long next = row + static_cast<long long>(STAGES - 1) * step;
      const int before = slot == 0 ? STAGES - 1 : slot - 1;  // its results have left
      if (threadIdx.x == 0 && row != blockIdx.x && next < M) fetch(rows + before * pitch, x + next * N, bytes, &arrived[before]);
    }
    turn ^= 1;
    if (++slot == STAGES) {
      slot = 0;
      parity ^= 1;
    }
  }
  if constexpr (MODE == 2) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Any length: two passes over the row.
extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_any(const float* __restrict__ x, float* __restrict__ y, int N) {
  __shared__ normalizer parts[THREADS / 32];
  const long long row = static_cast<long long>(blockIdx.x) * N;
  normalizer mine;
  for (int i = threadIdx.x; i < N; i += THREADS) mine = merge(mine, {x[row + i], 1.0f});
  const normalizer all = merge_block(mine, parts);
  for (int i = threadIdx.x; i < N; i += THREADS) {
    y[row + i] = exp2f((x[row + i] - all.maximum) * log2_e) / all.sum;
  }
}
