// sum = the sum of all elements of x. Every thread adds up vectors of four, UNROLL of them in flight, then a block
// adds its threads' sums and either writes its part for a second kernel or adds it to the result.
#define THREADS 1024       // kevo: {64, 128, 256, 512, 1024}
#define UNROLL 4         // kevo: {1, 2, 4, 8, 16}
#define BLOCKS_PER_SM 2  // kevo: {1, 2, 3, 4, 6, 8, 16, 32}
#define CONTIGUOUS 0     // kevo: {0, 1}
#define LOAD_HINT 1      // kevo: {0, 1, 2, 3}
#define ATOMIC 1         // kevo: {0, 1}
// kevo: require THREADS * UNROLL * 4 <= 65536
// kevo: workspace part float32 [device.sms * BLOCKS_PER_SM]
// kevo: when ATOMIC == 1: memset sum 0
// kevo: launch reduce<<<device.sms * BLOCKS_PER_SM, THREADS>>>(x, part, sum, N)
// kevo: when ATOMIC == 0: launch finish<<<1, 1024>>>(part, sum, device.sms * BLOCKS_PER_SM) pdl

// kevo: begin vector_load
__device__ __forceinline__ float4 load(const float4* at) {
  float4 v;
  if constexpr (LOAD_HINT == 1) {
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at));
  } else if constexpr (LOAD_HINT == 2) {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at), "l"(policy));
  } else if constexpr (LOAD_HINT == 3) {
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at));
  } else {
    v = *at;
  }
  return v;
}
// kevo: end vector_load

// kevo: begin block_sum
// The sum over the block, in thread 0.
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float warps[32];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0.0f;
  value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  return value;
}
// kevo: end block_sum

extern "C" __global__ void __launch_bounds__(THREADS)
    reduce(const float* __restrict__ x, float* __restrict__ part, float* __restrict__ sum, long long n) {
  const long long vectors = n / 4;
  const float4* from = reinterpret_cast<const float4*>(x);
  // Either all blocks walk through memory side by side, or each has a stretch of its own.
  constexpr long long chunk = THREADS * UNROLL;
  const long long chunks = (vectors + chunk - 1) / chunk;
  const long long own = (chunks + gridDim.x - 1) / gridDim.x;
  const long long first = CONTIGUOUS ? blockIdx.x * own : blockIdx.x;
  const long long last = CONTIGUOUS ? min(first + own, chunks) : chunks;
  const long long step = CONTIGUOUS ? 1 : gridDim.x;
  float sums[4] = {};
  for (long long c = first; c < last; c += step) {
    const long long at = c * chunk + threadIdx.x;
    if (at + (UNROLL - 1) * THREADS < vectors) {
      float4 v[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) v[u] = load(from + at + u * THREADS);
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        sums[0] += v[u].x;
        sums[1] += v[u].y;
        sums[2] += v[u].z;
        sums[3] += v[u].w;
      }
    } else {
      for (long long i = at; i < vectors && i < (c + 1) * chunk; i += THREADS) {
        const float4 v = load(from + i);
        sums[0] += v.x;
        sums[1] += v.y;
        sums[2] += v.z;
        sums[3] += v.w;
      }
    }
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) sums[0] += x[vectors * 4 + threadIdx.x];
  const float total = block_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
  if (threadIdx.x == 0) {
    if constexpr (ATOMIC == 1) {
      atomicAdd(sum, total);
    } else {
      part[blockIdx.x] = total;
    }
  }
}

extern "C" __global__ void __launch_bounds__(1024) finish(const float* part, float* sum, int parts) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float value = 0.0f;
  for (int i = threadIdx.x; i < parts; i += 1024) value += part[i];
  const float total = block_sum(value);
  if (threadIdx.x == 0) *sum = total;
}
