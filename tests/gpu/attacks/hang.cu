// verdict: timed_out
// because: Never ends.
// kevo: launch rows<<<M, 256>>>(x, y, N)
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  while (*(volatile const float*)x != 123456.0f) {}
  y[0] = 1;
}
