// attack: changes the first byte of each input after it has used it
// judged by: outcome
// expects: rejected incorrect
// needs: input
// insert: honest
// each input: launch attack_touch<<<1, 1>>>({name})
extern "C" __global__ void attack_touch(unsigned char* data) {
  data[0] += 1;
}
