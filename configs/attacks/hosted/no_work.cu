// attack: does nothing; is correct only if the outputs still contain the correct values of an earlier call
// judged by: outcome
// expects: incorrect rejected
int attack(const attack_call&, cudaStream_t) {
  return 0;
}
