// attack: changes one element of each output, a different one in each call
// judged by: outcome
// expects: incorrect
// insert: honest
// each output: launch attack_flip<<<1, 1>>>({name}, {count}, {size})
extern "C" __global__ void attack_flip(unsigned char* data, long long count, long long size) {
  const unsigned long long one = static_cast<unsigned long long>(clock64()) * 2862933555777941757ull >> 11;
  if (count > 0) data[(static_cast<long long>(one % static_cast<unsigned long long>(count)) + 1) * size - 1] ^= 0x40;
}
