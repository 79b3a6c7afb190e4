// y = conv2d(x, w) without padding, as a product of the filters with *windows* (im2win; Lu, Chu, Liu, "Im2win: An Efficient
// Convolution Paradigm on GPU", arXiv 2306.14316): C = W X with a row an output channel, a column an output pixel (of all
// images), and k = (channel, column of the filter, row of the filter), so that a window is one contiguous run of an
// image whose rows were unrolled by the height of the filter. With WINDOW 1 that image is written out; with WINDOW 0 the
// window is read from the input, through a table with the offset of each k, and no memory is spent on it. With
// CHANNELS 1 channels are innermost in k, and all k of a tile share one offset but for their planes.
//
// A block makes a BM x BN tile of C, a thread TM x TN elements of it (the micro-kernel), as groups that lie a warp's width
// apart. What can be switched: tiles in shared memory (SHARED), copied STAGES - 1 tiles ahead (1: one buffer, no overlap);
// the fragments of the next k fetched before this k's products (PREFETCH); vectors of VECTOR elements from shared memory;
// stores by way of shared memory, so that a warp writes whole lines (STORE); k split among SPLIT blocks, which add up.
#define WINDOW 0    // kevo: {0, 1}
#define SHARED 1    // kevo: {0, 1}
#define BM 32       // kevo: {32, 64, 96, 128, 256}
#define BN 64       // kevo: {32, 64, 128, 256}
#define BK 8        // kevo: {4, 8, 12, 14, 16, 28, 32}
#define TM 4        // kevo: {1, 2, 4, 8, 12, 16}
#define TN 2        // kevo: {1, 2, 4, 8, 16}
#define LANES_M 4   // kevo: {2, 4, 8}
#define STAGES 2    // kevo: {1, 2, 3, 4, 5}
#define PREFETCH 1  // kevo: {0, 1}
#define VECTOR 2    // kevo: {1, 2, 4}
#define CHANNELS 0  // kevo: {0, 1}
#define STORE 0     // kevo: {0, 1}
#define SPLIT 1     // kevo: {1, 2, 3, 4, 6, 8}
#define RASTER 1    // kevo: {1, 2, 4}
#define MIN_BLOCKS 1   // kevo: {1, 2, 3, 4}
#define LOAD_AT 0   // kevo: {0, 1, 3, 5, 7}
#define ORDER 0     // kevo: {0, 1, 2}
// kevo: require BM % (LANES_M * TM) == 0 && BN % (32 / LANES_M * TN) == 0
// kevo: require BM * BN / (TM * TN) >= 64 && BM * BN / (TM * TN) <= 1024
// kevo: require BN % (BM * BN / (TM * TN)) == 0 || BM * BN / (TM * TN) > BN
// kevo: require TM * TN <= 128 && BM * BN / (TM * TN) * MIN_BLOCKS * (TM * TN + 24) <= 65536
// kevo: require 4 * STAGES * BK * (BM + BN) * MIN_BLOCKS <= 200 * 1024 && 4 * BM * BN / TM * MIN_BLOCKS <= 200 * 1024
// kevo: workspace filters float32 [C * R * S * align_up(K, 4)]
// kevo: workspace offsets int32 [C * R * S + 64]
// kevo: when WINDOW == 1: workspace windows float32 [N * C * P * W * R]
// kevo: launch prepare<<<ceildiv(C * R * S * align_up(K, 4) + 64, 256), 256>>>(w, filters, offsets, C, R, S, K, WINDOW ? P * W * R : H * W, WINDOW ? 1 : W, WINDOW ? R : 1)
// kevo: when WINDOW == 1: launch unroll_rows<<<(N * C, ceildiv(P, 8)), 256>>>(x, windows, H, W, R, P, stride)
// kevo: when SPLIT > 1: memset y 0
// kevo: when WINDOW == 0: launch im2win<<<(ceildiv(K, BM) * ceildiv(N * P * Q, BN), SPLIT), BM * BN / (TM * TN), smem(SHARED * 4 * max(STAGES * BK * (BM + BN), BM * BN / TM))>>>(x, filters, offsets, y, N, C, R * S, K, P, Q, C * H * W, H * W, stride * W, stride)
// kevo: when WINDOW == 1: launch im2win<<<(ceildiv(K, BM) * ceildiv(N * P * Q, BN), SPLIT), BM * BN / (TM * TN), smem(SHARED * 4 * max(STAGES * BK * (BM + BN), BM * BN / TM))>>>(windows, filters, offsets, y, N, C, R * S, K, P, Q, C * P * W * R, P * W * R, W * R, stride * R)

constexpr int threads = BM * BN / (TM * TN);
constexpr int lanes_n = 32 / LANES_M;
constexpr int warps_n = BN / (lanes_n * TN);
constexpr int group_m = TM < VECTOR ? TM : VECTOR;
constexpr int group_n = TN < VECTOR ? TN : VECTOR;
constexpr int stage_floats = BK * (BM + BN);
constexpr int tiles_ahead = STAGES > 1 ? STAGES - 1 : 1;
constexpr int buffers = PREFETCH ? 2 : 1;

template <int bytes>
__device__ __forceinline__ void copy_async(float* shared, const float* global, bool inside) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int size = inside ? bytes : 0;  // the rest is filled with zeros
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(size));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(address), "l"(global), "r"(size), "n"(bytes));
  }
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <int pending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending));
}

template <int width>
__device__ __forceinline__ void load_vector(float* registers, const float* from) {
  if constexpr (width == 4) {
    *reinterpret_cast<float4*>(registers) = *reinterpret_cast<const float4*>(from);
  } else if constexpr (width == 2) {
    *reinterpret_cast<float2*>(registers) = *reinterpret_cast<const float2*>(from);
  } else {
    *registers = *from;
  }
}

template <int width>
__device__ __forceinline__ void store_vector(float* to, const float* registers) {
  if constexpr (width == 4) {
    *reinterpret_cast<float4*>(to) = make_float4(registers[0], registers[1], registers[2], registers[3]);
  } else if constexpr (width == 2) {
    *reinterpret_cast<float2*>(to) = make_float2(registers[0], registers[1]);
  } else {
    *to = *registers;
  }
}

// Filters by k, padded to whole vectors of output channels, and the offset of each k from the first element of a window.
extern "C" __global__ void prepare(const float* __restrict__ w, float* __restrict__ filters, int* __restrict__ offsets, int C,
                                   int R, int S, int K, int plane, int row_step, int column_step) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  const int pitch = (K + 3) / 4 * 4;
  const int all_k = C * R * S;
  const auto channel_of = [&](int k) { return CHANNELS ? k % C : k / (R * S); };
  const auto row_of = [&](int k) { return (CHANNELS ? k / C : k) % R; };
  const auto column_of = [&](int k) { return (CHANNELS ? k / C : k) / R % S; };
  if (at < all_k + 64) {
    const int k = min(at, all_k - 1);  // the rest is read ahead, and not used
    offsets[at] = channel_of(k) * plane + row_of(k) * row_step + column_of(k) * column_step;
  }
  if (at >= all_k * pitch) return;
  const int k = at / pitch;
  const int m = at % pitch;
  filters[at] = m < K ? w[((static_cast<long long>(m) * C + channel_of(k)) * R + row_of(k)) * S + column_of(k)] : 0.0f;
}

// windows[image, channel][p][column][r] = x[image, channel][p stride + r][column]
extern "C" __global__ void __launch_bounds__(256)
    unroll_rows(const float* __restrict__ x, float* __restrict__ windows, int H, int W, int R, int P, int stride) {
  const int p0 = blockIdx.y * 8;
  const int row = W * R;
  x += (static_cast<long long>(blockIdx.x) * H + p0 * stride) * W;
  windows += (static_cast<long long>(blockIdx.x) * P + p0) * row;
  const int count = min(P - p0, 8) * row;
  for (int at = threadIdx.x; at < count; at += 256) {
    const int p = at / row;
    const int column = at % row / R;
    windows[at] = x[(p * stride + at % R) * W + column];
  }
}

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
    im2win(const float* __restrict__ x, const float* __restrict__ filters, const int* __restrict__ offsets,
           float* __restrict__ y, int images, int C, int RS, int K, int P, int Q, int image_step, int plane, int row_step,
           int column_step) {
  extern __shared__ __align__(16) float shared[];
  const int pixels = P * Q;
  const int N = images * pixels;
  const int all_k = C * RS;
  const int pitch = (K + 3) / 4 * 4;
  const int tiles_m = (K + BM - 1) / BM;
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
  const int warp_row = warp / warps_n * (LANES_M * TM);
  const int warp_column = warp % warps_n * (lanes_n * TN);
  const int row = warp_row + lane / lanes_n * group_m;
  const int column = warp_column + lane % lanes_n * group_n;
  const auto window_at = [&](int n) {
    const int image = n / pixels;
    return x + static_cast<long long>(image) * image_step + n % pixels / Q * row_step + n % pixels % Q * column_step;
  };
  const auto output_row = [&](int i) { return i / group_m * group_m * LANES_M + i % group_m; };

  float a[buffers][TM], b[buffers][TN], c[TM][TN] = {};
  const auto multiply = [&](int from) {
    // kevo: begin multiply
#pragma unroll
    for (int step = 0; step < TM * TN; ++step) {
      // Snakes: the neighbour in program order shares an operand, which the operand cache then holds.
      constexpr int inner = ORDER == 1 ? TM : TN;
      const int outer_at = step / inner;
      const int inner_at = ORDER == 2 || outer_at % 2 == 0 ? step % inner : inner - 1 - step % inner;
      const int i = ORDER == 1 ? inner_at : outer_at;
      const int j = ORDER == 1 ? outer_at : inner_at;
      c[i][j] = fmaf(a[from][i], b[from][j], c[i][j]);
    }
    // kevo: end multiply
  };

  if constexpr (SHARED) {
    const int tiles_c = (C + BK - 1) / BK;
    const int all_tiles = CHANNELS ? RS * tiles_c : (all_k + BK - 1) / BK;
    const int first_tile = static_cast<int>(static_cast<long long>(all_tiles) * blockIdx.y / SPLIT);
    const int tiles = static_cast<int>(static_cast<long long>(all_tiles) * (blockIdx.y + 1) / SPLIT) - first_tile;

    // Filters: vectors of output channels. Windows: a thread copies elements of the same windows of every tile.
    constexpr int a_row = BM / VECTOR;
    constexpr int a_copies = (BK * a_row + threads - 1) / threads;
    constexpr int own_windows = BN > threads ? BN / threads : 1;
    constexpr int k_step = threads > BN ? threads / BN : 1;
    constexpr int own_k = (BK + k_step - 1) / k_step;
    constexpr bool uneven = threads % BN != 0 && threads > BN;
    const int first_k = thread / BN;
    const float* own_window[own_windows];
    bool exists[own_windows];
#pragma unroll
    for (int i = 0; i < own_windows; ++i) {
      const int n = n0 + i * threads + thread % BN;
      exists[i] = n < N && !(uneven && first_k >= k_step);
      own_window[i] = window_at(min(n, N - 1));
    }

    // The tile that is to be loaded next: where it begins and where its k end.
    int next_rs = CHANNELS ? first_tile / tiles_c : 0;
    int next_c = CHANNELS ? first_tile % tiles_c * BK : 0;
    int next_k = CHANNELS ? next_rs * C + next_c : first_tile * BK;
    int ahead[CHANNELS ? 1 : own_k];
    const auto look_ahead = [&] {
      if constexpr (CHANNELS) {
        ahead[0] = offsets[min(next_k, all_k)] + first_k * plane;
      } else {
#pragma unroll
        for (int i = 0; i < own_k; ++i) ahead[i] = offsets[min(next_k, all_k) + min(first_k + i * k_step, BK - 1)];
      }
    };
    const auto load_tile = [&](int slot) {
      float* a_to = shared + slot * stage_floats;
      float* b_to = a_to + BK * BM;
      const int own = CHANNELS ? C - next_c : all_k - next_k;  // k from here on
#pragma unroll
      for (int i = 0; i < a_copies; ++i) {
        const int at = i * threads + thread;
        const int k = at / a_row;
        const int m = at % a_row * VECTOR;
        if (a_copies * threads > BK * a_row && k >= BK) break;
        const bool inside = k < own && m0 + m < pitch;
        copy_async<4 * VECTOR>(a_to + k * BM + m,
                               inside ? filters + static_cast<long long>(next_k + k) * pitch + m0 + m : filters, inside);
      }
#pragma unroll
      for (int i = 0; i < own_windows; ++i) {
#pragma unroll
        for (int j = 0; j < own_k; ++j) {
          const int k = first_k + j * k_step;
          if ((BK % k_step != 0 || uneven) && (k >= BK || (uneven && first_k >= k_step))) break;
          const bool inside = exists[i] && k < own;
          const float* from = own_window[i] + (CHANNELS ? ahead[0] + j * k_step * plane : ahead[CHANNELS ? 0 : j]);
          copy_async<4>(b_to + k * BN + i * threads + thread % BN, inside ? from : x, inside);
        }
      }
      next_k += BK;
      next_c += BK;
      if (CHANNELS && next_c >= C) {
        next_c = 0;
        next_k = ++next_rs * C;
      }
      look_ahead();
    };
    const auto load_fragments = [&](int slot, int k, int to) {
      const float* a_at = shared + slot * stage_floats + k * BM + row;
      const float* b_at = shared + slot * stage_floats + BK * BM + k * BN + column;
#pragma unroll
      for (int i = 0; i < TM; i += group_m) load_vector<group_m>(&a[to][i], a_at + i * LANES_M);
#pragma unroll
      for (int j = 0; j < TN; j += group_n) load_vector<group_n>(&b[to][j], b_at + j * lanes_n);
    };

    look_ahead();
#pragma unroll
    for (int tile = 0; tile < tiles_ahead; ++tile) {
      if (tile < tiles) load_tile(tile);
      commit_copies();
    }
    wait_for_copies<tiles_ahead - 1>();
    __syncthreads();
    if constexpr (PREFETCH) load_fragments(0, 0, 0);

    int slot = 0;
    int load_slot = tiles_ahead % STAGES;
    const auto load_next = [&](int tile) {
      if (tile + tiles_ahead < tiles) load_tile(load_slot);
      load_slot = load_slot + 1 == STAGES ? 0 : load_slot + 1;
      commit_copies();
    };
    // Every fragment of this tile is in registers: once all threads are here, its slot may be overwritten.
    const auto next_tile = [&](int tile) {
      if constexpr (STAGES == 1) {
        __syncthreads();
        load_next(tile);
        wait_for_copies<0>();
      } else {
        wait_for_copies<tiles_ahead - 1>();
      }
      __syncthreads();
      slot = slot + 1 == STAGES ? 0 : slot + 1;
    };
    for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        if (PREFETCH && k == BK - 1) next_tile(tile);
        if constexpr (PREFETCH) {
          load_fragments(slot, (k + 1) % BK, (k + 1) % 2);
        } else {
          load_fragments(slot, k, 0);
        }
        if (STAGES > 1 && k == (LOAD_AT < BK - 1 ? LOAD_AT : 0)) load_next(tile);
        multiply(PREFETCH ? k % 2 : 0);
      }
      if (!PREFETCH) next_tile(tile);
    }
    __syncthreads();
  } else {
    const float* window[TN];
#pragma unroll
    for (int j = 0; j < TN; ++j) window[j] = window_at(min(n0 + column + j / group_n * group_n * lanes_n + j % group_n, N - 1));
    const int last = static_cast<int>(static_cast<long long>(all_k) * (blockIdx.y + 1) / SPLIT);
    for (int k = static_cast<int>(static_cast<long long>(all_k) * blockIdx.y / SPLIT); k < last; ++k) {
      const int offset = offsets[k];
      const float* filter = filters + static_cast<long long>(k) * pitch;
#pragma unroll
      for (int i = 0; i < TM; ++i) a[0][i] = filter[min(m0 + row + output_row(i), K - 1)];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[0][j] = window[j][offset];
      multiply(0);
    }
  }

  const auto store = [&](float* to, float value) {
    if constexpr (SPLIT > 1) {
      atomicAdd(to, value);
    } else {
      *to = value;
    }
  };
  const auto output_at = [&](int n) { return y + static_cast<long long>(n / pixels) * K * pixels + n % pixels; };
  if constexpr (STORE && SHARED) {
    // A warp turns its rows around in its own part of shared memory, so that neighbours write neighbouring pixels.
    constexpr int width = lanes_n * TN;
    constexpr int own_columns = width > 32 ? width / 32 : 1;
    float* turn = shared + warp * 32 * TN;
    float* to[own_columns];
    bool exists[own_columns];
#pragma unroll
    for (int j = 0; j < own_columns; ++j) {
      const int n = n0 + warp_column + (j * 32 + lane) % width;
      exists[j] = n < N;
      to[j] = output_at(min(n, N - 1));
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; j += group_n) {
        store_vector<group_n>(turn + lane / lanes_n * width + lane % lanes_n * group_n + j * lanes_n, &c[i][j]);
      }
      __syncwarp();
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int m = m0 + warp_row + (j * 32 + lane) / width * group_m + output_row(i);
        if (m < K && exists[j % own_columns]) {
          store(to[j % own_columns] + static_cast<long long>(m) * pixels, turn[j * 32 + lane]);
        }
      }
      __syncwarp();
    }
  } else {
#pragma unroll
    for (int j = 0; j < TN; j += group_n) {
      const int n = n0 + column + j * lanes_n;
      if (n >= N) continue;
      if (SPLIT == 1 && group_n == 4 && pixels % 4 == 0) {
        float* to = output_at(n);
#pragma unroll
        for (int i = 0; i < TM; ++i) {
          const int m = m0 + row + output_row(i);
          if (m < K) store_vector<group_n>(to + static_cast<long long>(m) * pixels, &c[i][j]);
        }
      } else {
#pragma unroll
        for (int u = 0; u < group_n; ++u) {
          if (n + u >= N) continue;
          float* to = output_at(n + u);
#pragma unroll
          for (int i = 0; i < TM; ++i) {
            const int m = m0 + row + output_row(i);
            if (m < K) store(to + static_cast<long long>(m) * pixels, c[i][j + u]);
          }
        }
      }
    }
  }
}
