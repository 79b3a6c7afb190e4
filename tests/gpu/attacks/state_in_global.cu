// verdict: valid
// twin: row_sum.cu
// because: Counts its calls in device variables, an initialised one, one of zeros and one of a function: were one not restored before each call, its sums would be wrong.
// kevo: launch rows<<<M, 256>>>(x, y, N)
// kevo: launch count<<<1, 1>>>(y)
__device__ float row(const float* x, long long n, long long i) {
  __shared__ float sums[256];
  float sum = 0;
  for (long long j = threadIdx.x; j < n; j += 256) sum += x[i * n + j];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
__device__ int calls = 7;
static __device__ int zeros[3];
extern "C" __global__ void count(float* y) {
  static __device__ int inside = 3;
  asm volatile("{ .global .u32 hidden; .reg .u32 r; ld.global.u32 r, [hidden]; add.u32 r, r, 1; st.global.u32 [hidden], r; }" ::: "memory");
  if (calls != 7 || zeros[1] != 0 || inside != 3) y[0] = 1e30f;
  ++calls;
  ++zeros[1];
  ++inside;
}
