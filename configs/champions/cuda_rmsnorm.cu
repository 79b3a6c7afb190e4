// y = x / sqrt(mean(x^2) + epsilon) * weight along rows, one read and one write of memory: a row is held in registers.
// MODE 0: a block of threads a row, loads straight from memory. MODE 1: a block stays and takes row
// after row, which the copy engine has brought to shared memory up to STAGES rows ahead (MODE 2: and which also takes the results away); the weights stay in registers
// (HELD_WEIGHT) or are read again for each row. What is too long for the registers of a block is read twice, by threads
// side by side (INTERLEAVED) or each in a share of its own, as a first try would.
#define MODE 0           // kevo: {0, 1, 2}
#define THREADS 1024       // kevo: {32, 64, 128, 256, 512, 1024}
#define VECTORS 2        // kevo: {1, 2, 4, 8, 16, 32}
#define STAGES 1         // kevo: {1, 2, 3, 4, 6}
#define BLOCKS_PER_SM 2  // kevo: {1, 2, 3, 4, 6, 8}
#define HELD_WEIGHT 0    // kevo: {0, 1}
#define LOAD_HINT 0      // kevo: {0, 1, 2}
#define STORE_HINT 0     // kevo: {0, 1, 2, 3}
#define INTERLEAVED 1    // kevo: {0, 1}
// kevo: require INTERLEAVED == 1 || MODE == 0 && THREADS * VECTORS < 256
// kevo: require THREADS * BLOCKS_PER_SM <= 2048 && THREADS * BLOCKS_PER_SM * (4 * VECTORS * (1 + HELD_WEIGHT * min(MODE, 1)) + 16) <= 65536
// kevo: require MODE < 2 || STAGES > 1
// kevo: require MODE == 0 || 16 * THREADS * VECTORS * STAGES * BLOCKS_PER_SM <= 220 * 1024
// kevo: when MODE == 0 && N % 4 == 0 && N <= 4 * THREADS * VECTORS: launch rmsnorm_held<<<M, THREADS>>>(x, weight, y, N, float32(1 / N))
// kevo: when MODE >= 1 && N % 4 == 0 && N <= 4 * THREADS * VECTORS: launch rmsnorm_staged<<<min(M, device.sms * BLOCKS_PER_SM), THREADS, smem(16 * THREADS * VECTORS * STAGES)>>>(x, weight, y, M, N, float32(1 / N))
// kevo: when N % 4 != 0 || N > 4 * THREADS * VECTORS: launch rmsnorm_any<<<M, THREADS>>>(x, weight, y, N, float32(1 / N))

constexpr float epsilon = 1e-6f;

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

// The sum over the block, in every thread. `parts` must not be in use by a previous call: rows take turns.
__device__ __forceinline__ float block_sum(float value, float* parts) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float all = 0.0f;
#pragma unroll
  for (int w = 0; w < THREADS / 32; ++w) all += parts[w];
  return all;
}
// kevo: begin square_sum
__device__ __forceinline__ float factor_of(const float4 (&v)[VECTORS], float* parts, float inverse_n) {
  float sums[4] = {};
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    sums[0] = fmaf(v[i].x, v[i].x, sums[0]);
    sums[1] = fmaf(v[i].y, v[i].y, sums[1]);
    sums[2] = fmaf(v[i].z, v[i].z, sums[2]);
    sums[3] = fmaf(v[i].w, v[i].w, sums[3]);
  }
  return rsqrtf(fmaf(block_sum((sums[0] + sums[1]) + (sums[2] + sums[3]), parts), inverse_n, epsilon));
}
// kevo: end square_sum
__device__ __forceinline__ float4 scaled(float4 v, float factor, float4 w) {
  return make_float4(v.x * factor * w.x, v.y * factor * w.y, v.z * factor * w.z, v.w * factor * w.w);
}
__device__ __forceinline__ int element(int i) { return 4 * (i * THREADS + static_cast<int>(threadIdx.x)); }

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    rmsnorm_held(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y, int N,
                 float inverse_n) {
  __shared__ float parts[THREADS / 32];
  const long long row = static_cast<long long>(blockIdx.x) * N;
  float4 v[VECTORS];
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    v[i] = element(i) < N ? load(reinterpret_cast<const float4*>(x + row + element(i))) : float4{};
  }
  const float factor = factor_of(v, parts, inverse_n);
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    if (element(i) < N) {
      const float4 w = *reinterpret_cast<const float4*>(weight + element(i));
      store(reinterpret_cast<float4*>(y + row + element(i)), scaled(v[i], factor, w));
    }
  }
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
    rmsnorm_staged(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y, int M, int N,
                   float inverse_n) {
  extern __shared__ __align__(128) float rows[];
  __shared__ float parts[2][THREADS / 32];
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
  float4 held[HELD_WEIGHT == 1 ? VECTORS : 1];
  if constexpr (HELD_WEIGHT == 1) {
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      held[i] = element(i) < N ? *reinterpret_cast<const float4*>(weight + element(i)) : float4{};
    }
  }
  __syncthreads();
  int slot = 0;
  unsigned parity = 0;
  unsigned turn = 0;
  for (long long row = blockIdx.x; row < M; row += step) {
    wait(&arrived[slot], parity);
    const float* from = rows + slot * pitch;
    float4 v[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      v[i] = element(i) < N ? *reinterpret_cast<const float4*>(from + element(i)) : float4{};
    }
    const float factor = factor_of(v, parts[turn], inverse_n);  // with a barrier: all threads have read the slot
    if constexpr (MODE == 1) {
      const long long next = row + static_cast<long long>(STAGES) * step;
      if (threadIdx.x == 0 && next < M) fetch(rows + slot * pitch, x + next * N, bytes, &arrived[slot]);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      if (element(i) < N) {
        float4 w;
        if constexpr (HELD_WEIGHT == 1) {
          w = held[i];
        } else {
          w = *reinterpret_cast<const float4*>(weight + element(i));
        }
        if constexpr (MODE == 1) {
          store(reinterpret_cast<float4*>(y + row * N + element(i)), scaled(v[i], factor, w));
        } else {
          *reinterpret_cast<float4*>(rows + slot * pitch + element(i)) = scaled(v[i], factor, w);
        }
      }
    }
    if constexpr (MODE == 2) {
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

// Any length: two passes over the row. A thread takes every so many elements from its first on, up to its last.
extern "C" __global__ void __launch_bounds__(THREADS)
    rmsnorm_any(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y, int N,
                float inverse_n) {
  __shared__ float parts[THREADS / 32];
  const long long row = static_cast<long long>(blockIdx.x) * N;
  const int share = (N + THREADS - 1) / THREADS;
  const int thread = static_cast<int>(threadIdx.x);
  const int first = INTERLEAVED == 1 ? thread : thread * share;
  const int last = INTERLEAVED == 1 ? N : min(first + share, N);
  const int step = INTERLEAVED == 1 ? THREADS : 1;
  float sum = 0.0f;
  for (int i = first; i < last; i += step) sum = fmaf(x[row + i], x[row + i], sum);
  const float factor = rsqrtf(fmaf(block_sum(sum, parts), inverse_n, epsilon));
  for (int i = first; i < last; i += step) y[row + i] = x[row + i] * factor * weight[i];
}
