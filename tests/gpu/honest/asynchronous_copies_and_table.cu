// verdict: valid
// twin: honest/asynchronous_copies.cu
// because: The same with a table in device memory, of which the loader makes a variable that is restored before each call.
// kevo: launch rows<<<M, 256>>>(x, y, N)
__device__ float ones[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  __shared__ float chunk[2][1024];
  __shared__ float sums[256];
  const float one = ones[blockIdx.x & 31];
  const float* from = x + blockIdx.x * n;
  const long long chunks = (n + 1023) / 1024;
  const auto bring = [&](long long c) {
    for (int k = threadIdx.x; k < 1024; k += 256) {
      const long long j = c * 1024 + k;
      const unsigned to = (unsigned)__cvta_generic_to_shared(&chunk[c & 1][k]);
      const int bytes = j < n ? 4 : 0;
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from + (j < n ? j : 0)), "r"(bytes));
    }
    asm volatile("cp.async.commit_group;");
  };
  float sum = 0;
  bring(0);
  for (long long c = 0; c < chunks; ++c) {
    if (c + 1 < chunks) {
      bring(c + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 256) sum += chunk[c & 1][k];
    __syncthreads();
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0] * one;
}
