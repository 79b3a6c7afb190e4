// Attention in float64: a block computes one row of results. The scores are computed twice, first for their largest and the sum of
// the weights, then for the results.
// kevo: launch reference<<<(S, heads), 64>>>(q, k, v, y, y_scale, S)
constexpr int D = 64;
__device__ __forceinline__ double real(unsigned short x) {
  return __uint_as_float(static_cast<unsigned>(x) << 16);
}
extern "C" __global__ void __launch_bounds__(64)
    reference(const unsigned short* q, const unsigned short* k, const unsigned short* v, double* y, double* y_scale, long long S) {
  __shared__ double query[D];
  __shared__ double weight[64];
  __shared__ double key[64][D + 1];
  const int t = threadIdx.x;
  const long long head = blockIdx.y * S * D;
  const long long row = head + blockIdx.x * D;
  query[t] = real(q[row + t]) / 8;  // the root of D
  double largest = -1e300;
  double total = 0;
  double sum = 0;
  double size = 0;
  const auto score = [&](long long first) {
    __syncthreads();
    for (int i = 0; i < 64; ++i) key[i][t] = first + i < S ? real(k[head + (first + i) * D + t]) : 0.0;
    __syncthreads();
    double s = 0;
#pragma unroll 16
    for (int d = 0; d < D; ++d) s += query[d] * key[t][d];
    return s;
  };
  for (long long first = 0; first < S; first += 64) {
    const double s = score(first);
    if (first + t >= S) continue;
    const double more = fmax(largest, s);
    total = total * exp(largest - more) + exp(s - more);
    largest = more;
  }
  __shared__ double largest_of[64];
  __shared__ double total_of[64];
  __syncthreads();
  largest_of[t] = largest;
  total_of[t] = total;
  __syncthreads();
  for (int i = 0; i < 64; ++i) largest = fmax(largest, largest_of[i]);
  total = 0;
  for (int i = 0; i < 64; ++i) total += total_of[i] * exp(largest_of[i] - largest);
  for (long long first = 0; first < S; first += 64) {
    const double s = score(first);
    weight[t] = first + t < S ? exp(s - largest) / total : 0.0;
    __syncthreads();
    const long long many = min(64LL, S - first);
    for (int i = 0; i < many; ++i) {
      const double product = weight[i] * real(v[head + (first + i) * D + t]);
      sum += product;
      size += fabs(product);
    }
  }
  y[row + t] = sum;
  y_scale[row + t] = size;
}
