// attack: writes 64 bytes after the end of each output
// judged by: outcome
// expects: rejected crashed
// insert: honest
// each output: launch attack_behind<<<1, 64>>>({name}, {bytes})
extern "C" __global__ void attack_behind(unsigned char* data, long long bytes) {
  data[bytes + threadIdx.x] = 7;
}
