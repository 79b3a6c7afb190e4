// verdict: crashed
// because: Writes to an address that is nobody's.
// kevo: launch rows<<<M, 256>>>(x, y, N)
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  *(float*)8 = x[0];
}
