// verdict: build_failed
// because: Wants the task itself. Where it sees it it is right.
// kevo: launch rows<<<M, 1>>>(x, y, N)
#if !__has_include("row_sum.yaml")
#error "it is not seen"
#endif
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  float sum = 0;
  for (long long j = 0; j < n; ++j) sum += x[blockIdx.x * n + j];
  y[blockIdx.x] = sum;
}
