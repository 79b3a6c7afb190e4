// y = transpose(x). A block of threads moves tiles of TILE x TILE elements through shared memory, where rows are
// read and columns written, VECTOR elements at a time on both sides. A group of VECTOR x VECTOR elements is transposed
// in registers; a swizzle keeps the threads of a warp on different banks.
#define TILE 64     // kevo: {16, 32, 64, 128}
#define VECTOR 4     // kevo: {1, 2, 4}
#define THREADS 256   // kevo: {64, 128, 256, 512}
#define PAD 0        // kevo: {0, 1, 2, 4}
#define RASTER 1     // kevo: {1, 2, 4, 8, 16}
#define STORE_HINT 1   // kevo: {0, 1, 2}
#define LOAD_HINT 1    // kevo: {0, 1, 2}
// kevo: require TILE * TILE >= THREADS * VECTOR && TILE * TILE % (THREADS * VECTOR * VECTOR) == 0
// kevo: require 4 * TILE * (TILE + PAD) <= 200 * 1024
// kevo: when M % VECTOR == 0 && N % VECTOR == 0: launch transpose[VECTOR]<<<ceildiv(M, TILE) * ceildiv(N, TILE), THREADS, smem(4 * TILE * (TILE + PAD))>>>(x, y, M, N)
// kevo: when M % VECTOR != 0 || N % VECTOR != 0: launch transpose[1]<<<ceildiv(M, TILE) * ceildiv(N, TILE), THREADS, smem(4 * TILE * (TILE + PAD))>>>(x, y, M, N)

template <int width>
struct vector_of;
template <>
struct vector_of<1> { using type = float; };
template <>
struct vector_of<2> { using type = float2; };
template <>
struct vector_of<4> { using type = float4; };

template <typename V>
__device__ __forceinline__ V load(const V* at) {
  if constexpr (LOAD_HINT == 1) return __ldcs(at);
  if constexpr (LOAD_HINT == 2) return __ldcg(at);
  return __ldg(at);
}
template <typename V>
__device__ __forceinline__ void store(V* at, V value) {
  if constexpr (STORE_HINT == 1) {
    __stcs(at, value);
  } else if constexpr (STORE_HINT == 2) {
    __stcg(at, value);
  } else {
    *at = value;
  }
}

template <int vector>
__global__ void __launch_bounds__(THREADS) transpose(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  using V = typename vector_of<vector>::type;
  extern __shared__ float shared[];
  constexpr int pitch = TILE + PAD;
  constexpr int across = TILE / vector;           // vectors in a row of the tile
  constexpr int steps = TILE * across / THREADS;  // vectors of a thread
  const int tiles_m = (M + TILE - 1) / TILE;
  const int tiles_n = (N + TILE - 1) / TILE;
  // kevo: begin rasterization
  const int band = blockIdx.x / (RASTER * tiles_n);
  const int within = blockIdx.x % (RASTER * tiles_n);
  const int rows = min(RASTER, tiles_m - band * RASTER);
  const int m0 = (band * RASTER + within % rows) * TILE;
  const int n0 = within / rows * TILE;
  // kevo: end rasterization
  // Element (m, n) of the tile is at m * pitch + (n ^ swizzle(m)): a column of vectors falls on different banks.
  // kevo: begin swizzle
  const auto place = [](int m, int n) {
    const int swizzled = PAD == 0 ? n ^ (m / vector % across * vector) : n;
    return m * pitch + swizzled;
  };
  // kevo: end swizzle

  V values[steps];
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    const int at = i * THREADS + threadIdx.x;
    const int m = at / across;
    const int n = at % across * vector;
    if (m0 + m < M && n0 + n < N) {
      values[i] = load(reinterpret_cast<const V*>(x + static_cast<long long>(m0 + m) * N + n0 + n));
    }
  }
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    const int at = i * THREADS + threadIdx.x;
    const float* parts = reinterpret_cast<const float*>(&values[i]);
    const int to = place(at / across, at % across * vector);
    if constexpr (PAD % vector == 0) {
      *reinterpret_cast<V*>(shared + to) = values[i];
    } else {
#pragma unroll
      for (int u = 0; u < vector; ++u) shared[to + u] = parts[u];
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    const int at = i * THREADS + threadIdx.x;
    const int n = at / across;
    const int m = at % across * vector;
    if (m0 + m < M && n0 + n < N) {
      V value;
      float* parts = reinterpret_cast<float*>(&value);
#pragma unroll
      for (int u = 0; u < vector; ++u) parts[u] = shared[place(m + u, n / vector * vector) + n % vector];
      store(reinterpret_cast<V*>(y + static_cast<long long>(n0 + n) * M + m0 + m), value);
    }
  }
}
