// attack: counts calls in a global variable, and clears its outputs from the seventh call on
// judged by: time
// expects: build_failed incorrect rejected valid
// insert: honest
// each output: launch attack_clear_later<<<1, 256>>>({name}, {bytes})
__device__ unsigned attack_calls;
extern "C" __global__ void attack_clear_later(unsigned char* data, long long bytes) {
  __shared__ unsigned calls;
  if (threadIdx.x == 0) calls = attack_calls++;
  __syncthreads();
  if (calls < 6) return;
  for (long long i = threadIdx.x; i < bytes; i += 256) data[i] = 0;
}
