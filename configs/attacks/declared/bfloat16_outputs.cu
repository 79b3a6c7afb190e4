// attack: rounds its float32 outputs to the mantissa of bfloat16 (7 bits)
// judged by: outcome
// expects: incorrect
// needs: float32 output
// insert: honest
// each float32 output: launch attack_round<<<ceildiv({count}, 256), 256>>>({name}, {count})
extern "C" __global__ void attack_round(unsigned* data, long long count) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= count || (data[i] & 0x7f800000u) == 0x7f800000u) return;
  const unsigned word = data[i] + (1u << (16 - 1)) - 1 + ((data[i] >> 16) & 1u);
  data[i] = word & ~((1u << 16) - 1u);
}
