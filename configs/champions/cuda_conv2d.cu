// y = conv2d(x, w) without padding, as a matrix product that is never written out (implicit GEMM): C = W X with a row an
// output channel, a column an output pixel (of all images), and k = (r, s, c), channels innermost. A first kernel brings the
// filters into that order, with neighbouring output channels side by side. Tiles of both go to shared memory by
// asynchronous copies, STAGES - 1 of them ahead; all k of a tile share (r, s), so a thread's addresses differ by planes. The
// product is that of a float32 GEMM: a thread owns TM x TN elements, as groups of up to 4 x 4 a warp's width apart.
#define BM 128       // kevo: {32, 64, 128, 256}
#define BN 128       // kevo: {32, 64, 128, 256}
#define BK 8        // kevo: {4, 8, 16, 32}
#define TM 16        // kevo: {2, 4, 8, 16}
#define TN 8        // kevo: {2, 4, 8, 16}
#define LANES_M 4   // kevo: {2, 4, 8}
#define STAGES 4    // kevo: {2, 3, 4, 5}
#define RASTER 1    // kevo: {1, 2, 4}
#define MIN_BLOCKS 2   // kevo: {1, 2, 3, 4}
#define LOAD_AT 3   // kevo: {0, 1, 3, 5, 7}
#define ORDER 0     // kevo: {0, 1, 2}
// kevo: require BM % (LANES_M * TM) == 0 && BN % (32 / LANES_M * TN) == 0
// kevo: require BM * BN / (TM * TN) >= 64 && BM * BN / (TM * TN) <= 1024
// kevo: require BN * BK % (BM * BN / (TM * TN)) == 0 && BM * BN / (TM * TN) % BN == 0 || BN % (BM * BN / (TM * TN)) == 0
// kevo: require TM * TN <= 128 && BM * BN / (TM * TN) * MIN_BLOCKS * (TM * TN + 24) <= 65536
// kevo: require 4 * STAGES * BK * (BM + BN) * MIN_BLOCKS <= 200 * 1024
// kevo: workspace filters float32 [R * S * C * align_up(K, 4)]
// kevo: launch reorder<<<ceildiv(R * S * C * align_up(K, 4), 256), 256>>>(w, filters, R * S, C, K, align_up(K, 4))
// kevo: launch conv2d[R, S]<<<ceildiv(K, BM) * ceildiv(N * P * Q, BN), BM * BN / (TM * TN), smem(4 * STAGES * BK * (BM + BN))>>>(x, filters, y, N, C, H, W, K, P, Q, stride)

constexpr int threads = BM * BN / (TM * TN);
constexpr int lanes_n = 32 / LANES_M;
constexpr int warps_n = BN / (lanes_n * TN);
constexpr int group_m = TM < 4 ? TM : 4;
constexpr int group_n = TN < 4 ? TN : 4;
constexpr int a_pitch = BM;
constexpr int stage_floats = BK * (BM + BN);

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

// to[rs][c][k] = from[k][c][rs], padded to whole vectors of k.
extern "C" __global__ void reorder(const float* __restrict__ from, float* __restrict__ to, int RS, int C, int K, int pitch) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= RS * C * pitch) return;
  const int k = at % pitch;
  const int c = at / pitch % C;
  const int rs = at / pitch / C;
  to[at] = k < K ? from[(static_cast<long long>(k) * C + c) * RS + rs] : 0.0f;
}

template <int R, int S>
__global__ void __launch_bounds__(threads, MIN_BLOCKS)
    conv2d(const float* __restrict__ x, const float* __restrict__ filters, float* __restrict__ y, int images, int C, int H,
           int W, int K, int P, int Q, int stride) {
  extern __shared__ __align__(16) float shared[];
  const int pixels = P * Q;
  const int M = K;
  const int N = images * pixels;
  const int pitch = (K + 3) / 4 * 4;
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

  // Filters: vectors of four output channels. Pixels: a thread copies the same pixels of every tile, k by k.
  constexpr int a_row = BM / 4;
  constexpr int a_copies = (BK * a_row + threads - 1) / threads;
  constexpr int own_pixels = BN > threads ? BN / threads : 1;
  constexpr int k_step = threads > BN ? threads / BN : 1;
  const float* pixel_at[own_pixels];
  bool pixel_exists[own_pixels];
#pragma unroll
  for (int i = 0; i < own_pixels; ++i) {
    const int n = n0 + i * threads + thread % BN;
    pixel_exists[i] = n < N;
    const int image = n / pixels;
    const int p = n % pixels / Q;
    const int q = n % pixels % Q;
    pixel_at[i] = x + (static_cast<long long>(image) * C * H + p * stride) * W + q * stride;
  }
  const int first_k = thread / BN;
  const long long plane = static_cast<long long>(H) * W;
  const int tiles_c = (C + BK - 1) / BK;

  int next_rs = 0;  // the tile that is to be loaded next
  int next_c = 0;
  const auto load_tile = [&](int slot) {
    float* a_to = shared + slot * stage_floats;
    float* b_to = a_to + BK * a_pitch;
#pragma unroll
    for (int i = 0; i < a_copies; ++i) {
      const int at = i * threads + thread;
      const int k = at / a_row;
      const int m = at % a_row * 4;
      if (a_copies * threads > BK * a_row && k >= BK) break;
      const bool inside = next_c + k < C && m0 + m < M;
      copy_async<16>(a_to + k * a_pitch + m,
                     inside ? filters + (static_cast<long long>(next_rs) * C + next_c + k) * pitch + m0 + m : filters, inside);
    }
    const long long offset = (next_c + first_k) * plane + next_rs / S * W + next_rs % S;
#pragma unroll
    for (int i = 0; i < own_pixels; ++i) {
      const float* from = pixel_at[i] + offset;
#pragma unroll
      for (int k = 0; k < BK; k += k_step) {
        const bool inside = pixel_exists[i] && next_c + first_k + k < C;
        copy_async<4>(b_to + (first_k + k) * BN + i * threads + thread % BN, inside ? from + k * plane : x, inside);
      }
    }
    next_c += BK;
    if (next_c >= C) {
      next_c = 0;
      ++next_rs;
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

  const int tiles = R * S * tiles_c;
#pragma unroll
  for (int tile = 0; tile < STAGES - 1; ++tile) {
    if (tile < tiles) load_tile(tile);
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
        if (tile + STAGES - 1 < tiles) load_tile(load_slot);
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
  for (int j = 0; j < TN; j += group_n) {
    const int n = n0 + column + j * lanes_n;
    if (n >= N) continue;
    if (group_n == 4 && pixels % 4 == 0) {
      float* to = y + static_cast<long long>(n / pixels) * K * pixels + n % pixels;
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        const int m = m0 + row + i / group_m * group_m * LANES_M + i % group_m;
        if (m < M) {
          *reinterpret_cast<float4*>(to + static_cast<long long>(m) * pixels) =
              make_float4(c[i][j], c[i][j + 1], c[i][j + 2 < TN ? j + 2 : 0], c[i][j + 3 < TN ? j + 3 : 0]);
        }
      }
    } else {
#pragma unroll
      for (int u = 0; u < group_n; ++u) {
        if (n + u >= N) continue;
        float* to = y + static_cast<long long>((n + u) / pixels) * K * pixels + (n + u) % pixels;
#pragma unroll
        for (int i = 0; i < TM; ++i) {
          const int m = m0 + row + i / group_m * group_m * LANES_M + i % group_m;
          if (m < M) to[static_cast<long long>(m) * pixels] = c[i][j + u];
        }
      }
    }
  }
}
