// verdict: incorrect
// because: Writes zeros.
// kevo: launch rows<<<M, 256>>>(x, y, N)
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  y[blockIdx.x] = 0;
}
