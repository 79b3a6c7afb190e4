// verdict: crashed
// because: Reads four floats from an address that does not allow it.
// kevo: launch rows<<<M, 256>>>(x, y, N)
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  const float4 v = *(const float4*)((const char*)x + 4);
  y[blockIdx.x] = v.x + v.y + v.z + v.w;
}
