// attack: writes 64 bytes before the beginning of each output
// judged by: outcome
// expects: rejected crashed
// insert: honest
// each output: launch attack_in_front<<<1, 64>>>({name})
extern "C" __global__ void attack_in_front(unsigned char* data) {
  data[-1 - static_cast<int>(threadIdx.x)] = 7;
}
