// verdict: valid
// because: Adds parts of rows by atomics: the last bits differ from call to call.
// kevo: memset y 0
// kevo: launch rows<<<(M, 4), 256>>>(x, y, N)
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  float sum = 0;
  const long long first = n * blockIdx.y / 4, last = n * (blockIdx.y + 1) / 4;
  for (long long j = first + threadIdx.x; j < last; j += 256) sum += x[blockIdx.x * n + j];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(y + blockIdx.x, sum);
}
