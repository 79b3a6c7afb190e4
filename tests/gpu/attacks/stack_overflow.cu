// verdict: crashed|launch_failed|incorrect|build_failed|timed_out
// because: Calls itself without end.
// kevo: launch rows<<<M, 256>>>(x, y, N)
__device__ __noinline__ float deep(const float* x, long long n) {
  volatile float big[64];
  big[n % 64] = x[n % 2];
  return n < 0 ? big[0] : deep(x, n + 1) + big[n % 64];
}
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  y[blockIdx.x] = deep(x, n);
}
