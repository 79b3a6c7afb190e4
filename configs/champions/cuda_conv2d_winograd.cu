// y = conv2d(x, w) for 3 x 3 filters at stride 1, by Winograd's minimal filtering F(4 x 4, 3 x 3): tiles of 6 x 6 inputs
// overlap by 2; transformed, each gives 4 x 4 outputs for 36 products a channel instead of 144 (Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", arXiv 1509.09308). Four kernels: filters and inputs are transformed,
// 36 matrix products (output channels x tiles, summed over input channels) are made, and their results transformed back.
// Other strides and filters go to a plain direct kernel.
#define BM 128       // kevo: {32, 64, 128, 256}
#define BN 128       // kevo: {32, 64, 128, 256}
#define BK 8        // kevo: {4, 8, 16, 32}
#define TM 8        // kevo: {2, 4, 8, 16}
#define TN 8        // kevo: {2, 4, 8, 16}
#define LANES_M 4   // kevo: {2, 4, 8}
#define STAGES 4    // kevo: {2, 3, 4, 5}
#define MIN_BLOCKS 2   // kevo: {1, 2, 3, 4}
#define LOAD_AT 1   // kevo: {0, 1, 3, 5, 7}
#define ORDER 0     // kevo: {0, 1, 2}
#define IN_THREADS 128    // kevo: {32, 64, 128, 256}
#define OUT_THREADS 128   // kevo: {32, 64, 128, 256}
// kevo: require BM % (LANES_M * TM) == 0 && BN % (32 / LANES_M * TN) == 0
// kevo: require BM * BN / (TM * TN) >= 64 && BM * BN / (TM * TN) <= 1024
// kevo: require TM * TN <= 128 && BM * BN / (TM * TN) * MIN_BLOCKS * (TM * TN + 24) <= 65536
// kevo: require 4 * STAGES * BK * (BM + BN) * MIN_BLOCKS <= 200 * 1024
// kevo: when stride == 1 && R == 3 && S == 3: workspace filters float32 [36 * C * align_up(K, 4)]
// kevo: when stride == 1 && R == 3 && S == 3: workspace tiles float32 [36 * C * align_up(N * ceildiv(P, 4) * ceildiv(Q, 4), 4)]
// kevo: when stride == 1 && R == 3 && S == 3: workspace products float32 [36 * K * align_up(N * ceildiv(P, 4) * ceildiv(Q, 4), 4)]
// kevo: when stride == 1 && R == 3 && S == 3: launch transform_filters<<<(ceildiv(align_up(K, 4), 128), C), 128>>>(w, filters, C, K)
// kevo: when stride == 1 && R == 3 && S == 3: launch transform_inputs<<<(ceildiv(N * ceildiv(P, 4) * ceildiv(Q, 4), IN_THREADS), C), IN_THREADS>>>(x, tiles, N, C, H, W, P, Q)
// kevo: when stride == 1 && R == 3 && S == 3: launch multiply<<<(ceildiv(K, BM) * ceildiv(N * ceildiv(P, 4) * ceildiv(Q, 4), BN), 36), BM * BN / (TM * TN), smem(4 * STAGES * BK * (BM + BN))>>>(filters, tiles, products, C, K, N * ceildiv(P, 4) * ceildiv(Q, 4))
// kevo: when stride == 1 && R == 3 && S == 3: launch transform_outputs<<<(ceildiv(N * ceildiv(P, 4) * ceildiv(Q, 4), OUT_THREADS), K), OUT_THREADS>>>(products, y, N, K, P, Q)
// kevo: when stride != 1 || R != 3 || S != 3: launch direct<<<(ceildiv(P * Q, 128), K, N), 128>>>(x, w, y, C, H, W, K, R, S, P, Q, stride)

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

// Rows of B^T, G and A^T for the points 0, 1, -1, 2, -2 and infinity.
__device__ __forceinline__ void input_points(const float (&d)[6], float (&t)[6]) {
  t[0] = 4 * d[0] - 5 * d[2] + d[4];
  t[1] = (d[4] - 4 * d[2]) + (d[3] - 4 * d[1]);
  t[2] = (d[4] - 4 * d[2]) - (d[3] - 4 * d[1]);
  t[3] = (d[4] - d[2]) + 2 * (d[3] - d[1]);
  t[4] = (d[4] - d[2]) - 2 * (d[3] - d[1]);
  t[5] = 4 * d[1] - 5 * d[3] + d[5];
}
__device__ __forceinline__ void filter_points(const float (&g)[3], float (&t)[6]) {
  t[0] = g[0] * (1.0f / 4);
  t[1] = (g[0] + g[1] + g[2]) * (-1.0f / 6);
  t[2] = (g[0] - g[1] + g[2]) * (-1.0f / 6);
  t[3] = g[0] * (1.0f / 24) + g[1] * (1.0f / 12) + g[2] * (1.0f / 6);
  t[4] = g[0] * (1.0f / 24) - g[1] * (1.0f / 12) + g[2] * (1.0f / 6);
  t[5] = g[2];
}
__device__ __forceinline__ void output_points(const float (&m)[6], float (&t)[4]) {
  t[0] = m[0] + (m[1] + m[2]) + (m[3] + m[4]);
  t[1] = (m[1] - m[2]) + 2 * (m[3] - m[4]);
  t[2] = (m[1] + m[2]) + 4 * (m[3] + m[4]);
  t[3] = (m[1] - m[2]) + 8 * (m[3] - m[4]) + m[5];
}

// to[point][c][k], padded with zeros to whole vectors of k.
extern "C" __global__ void transform_filters(const float* __restrict__ w, float* __restrict__ to, int C, int K) {
  const int pitch = (K + 3) / 4 * 4;
  const int k = blockIdx.x * 128 + threadIdx.x;
  const int c = blockIdx.y;
  if (k >= pitch) return;
  float half[3][6];
#pragma unroll
  for (int s = 0; s < 3; ++s) {
    float column[3];
#pragma unroll
    for (int r = 0; r < 3; ++r) column[r] = k < K ? w[(static_cast<long long>(k) * C + c) * 9 + r * 3 + s] : 0.0f;
    filter_points(column, half[s]);
  }
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    const float row[3] = {half[0][i], half[1][i], half[2][i]};
    float points[6];
    filter_points(row, points);
#pragma unroll
    for (int j = 0; j < 6; ++j) to[(static_cast<long long>(6 * i + j) * C + c) * pitch + k] = points[j];
  }
}

// to[point][c][tile]: a thread transforms one tile of one channel.
extern "C" __global__ void __launch_bounds__(IN_THREADS)
    transform_inputs(const float* __restrict__ x, float* __restrict__ to, int images, int C, int H, int W, int P, int Q) {
  const int tiles_p = (P + 3) / 4;
  const int tiles_q = (Q + 3) / 4;
  const int count = images * tiles_p * tiles_q;
  const int tile = blockIdx.x * IN_THREADS + threadIdx.x;
  const int c = blockIdx.y;
  if (tile >= count) return;
  const int q0 = tile % tiles_q * 4;
  const int p0 = tile / tiles_q % tiles_p * 4;
  const int image = tile / tiles_q / tiles_p;
  const float* from = x + (static_cast<long long>(image) * C + c) * H * W;
  float half[6][6];
#pragma unroll
  for (int j = 0; j < 6; ++j) {
    float column[6];
#pragma unroll
    for (int i = 0; i < 6; ++i) column[i] = p0 + i < H && q0 + j < W ? from[(p0 + i) * W + q0 + j] : 0.0f;
    input_points(column, half[j]);
  }
  const long long pitch = (count + 3) / 4 * 4;
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    const float row[6] = {half[0][i], half[1][i], half[2][i], half[3][i], half[4][i], half[5][i]};
    float points[6];
    input_points(row, points);
#pragma unroll
    for (int j = 0; j < 6; ++j) to[(static_cast<long long>(6 * i + j) * C + c) * pitch + tile] = points[j];
  }
}

// products[point][k][tile] -> y: a thread makes 4 x 4 outputs of one channel.
extern "C" __global__ void __launch_bounds__(OUT_THREADS)
    transform_outputs(const float* __restrict__ products, float* __restrict__ y, int images, int K, int P, int Q) {
  const int tiles_p = (P + 3) / 4;
  const int tiles_q = (Q + 3) / 4;
  const int count = images * tiles_p * tiles_q;
  const int tile = blockIdx.x * OUT_THREADS + threadIdx.x;
  const int k = blockIdx.y;
  if (tile >= count) return;
  const long long pitch = (count + 3) / 4 * 4;
  float half[6][4];
#pragma unroll
  for (int j = 0; j < 6; ++j) {
    float column[6];
#pragma unroll
    for (int i = 0; i < 6; ++i) column[i] = products[(static_cast<long long>(6 * i + j) * K + k) * pitch + tile];
    output_points(column, half[j]);
  }
  const int q0 = tile % tiles_q * 4;
  const int p0 = tile / tiles_q % tiles_p * 4;
  const int image = tile / tiles_q / tiles_p;
  float* to = y + (static_cast<long long>(image) * K + k) * P * Q;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float row[6] = {half[0][i], half[1][i], half[2][i], half[3][i], half[4][i], half[5][i]};
    float results[4];
    output_points(row, results);
    if (p0 + i >= P) continue;
    float* at = to + static_cast<long long>(p0 + i) * Q + q0;
    if (Q % 4 == 0) {
      *reinterpret_cast<float4*>(at) = make_float4(results[0], results[1], results[2], results[3]);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (q0 + j < Q) at[j] = results[j];
      }
    }
  }
}

// One thread an output element, for strides and filters that this algorithm does not serve.
extern "C" __global__ void direct(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C,
                                  int H, int W, int K, int R, int S, int P, int Q, int stride) {
  const int pixel = blockIdx.x * 128 + threadIdx.x;
  if (pixel >= P * Q) return;
  const int p = pixel / Q;
  const int q = pixel % Q;
  float sum = 0;
  for (int c = 0; c < C; ++c) {
    const float* plane = x + (static_cast<long long>(blockIdx.z) * C + c) * H * W;
    const float* filter = w + (static_cast<long long>(blockIdx.y) * C + c) * R * S;
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) sum = fmaf(plane[(p * stride + r) * W + q * stride + s], filter[r * S + s], sum);
    }
  }
  y[(static_cast<long long>(blockIdx.z) * K + blockIdx.y) * P * Q + pixel] = sum;
}

// products[point] = transpose(filters[point]) tiles[point], each [C][K] and [C][count] with padded rows.
extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
    multiply(const float* __restrict__ filters, const float* __restrict__ tiles_in, float* __restrict__ products, int C, int K,
             int count) {
  extern __shared__ __align__(16) float shared[];
  const int M = K;
  const int m_pitch = (K + 3) / 4 * 4;
  const int n_pitch = (count + 3) / 4 * 4;
  filters += static_cast<long long>(blockIdx.y) * C * m_pitch;
  tiles_in += static_cast<long long>(blockIdx.y) * C * n_pitch;
  products += static_cast<long long>(blockIdx.y) * K * n_pitch;
  // kevo: begin rasterization
  const int tiles_m = (M + BM - 1) / BM;
  const int m0 = blockIdx.x % tiles_m * BM;
  const int n0 = blockIdx.x / tiles_m * BN;
  // kevo: end rasterization

  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int row = warp / warps_n * (LANES_M * TM) + lane / lanes_n * group_m;
  const int column = warp % warps_n * (lanes_n * TN) + lane % lanes_n * group_n;

  // Vectors of four output channels, vectors of four tiles.
  const auto load_tile = [&](int slot, int c0) {
    float* a_to = shared + slot * stage_floats;
    float* b_to = a_to + BK * a_pitch;
    constexpr int a_row = BM / 4;
    constexpr int a_copies = (BK * a_row + threads - 1) / threads;
#pragma unroll
    for (int i = 0; i < a_copies; ++i) {
      const int k = (i * threads + thread) / a_row;
      const int m = (i * threads + thread) % a_row * 4;
      if (a_copies * threads > BK * a_row && k >= BK) break;
      const bool inside = c0 + k < C && m0 + m < m_pitch;
      copy_async<16>(a_to + k * a_pitch + m,
                     inside ? filters + static_cast<long long>(c0 + k) * m_pitch + m0 + m : filters, inside);
    }
    constexpr int b_row = BN / 4;
    constexpr int b_copies = (BK * b_row + threads - 1) / threads;
#pragma unroll
    for (int i = 0; i < b_copies; ++i) {
      const int k = (i * threads + thread) / b_row;
      const int n = (i * threads + thread) % b_row * 4;
      if (b_copies * threads > BK * b_row && k >= BK) break;
      const bool inside = c0 + k < C && n0 + n < n_pitch;
      copy_async<16>(b_to + k * BN + n,
                     inside ? tiles_in + static_cast<long long>(c0 + k) * n_pitch + n0 + n : tiles_in, inside);
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

  const int tiles = (C + BK - 1) / BK;
#pragma unroll
  for (int tile = 0; tile < STAGES - 1; ++tile) {
    if (tile < tiles) load_tile(tile, tile * BK);
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
        if (tile + STAGES - 1 < tiles) load_tile(load_slot, (tile + STAGES - 1) * BK);
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
      float* to = products + static_cast<long long>(m) * n_pitch + n;
      if constexpr (group_n == 4) {
        if (n < n_pitch) *reinterpret_cast<float4*>(to) = make_float4(c[i][j], c[i][j + 1], c[i][j + 2], c[i][j + 3]);
      } else {
        if (n < n_pitch) *reinterpret_cast<float2*>(to) = make_float2(c[i][j], c[i][j + 1]);
      }
    }
  }
}
