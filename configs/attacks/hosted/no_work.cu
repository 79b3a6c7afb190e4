// attack: does nothing at all, hoping for outputs that still hold the right values
// judged by: outcome
// expects: incorrect rejected
int attack(const attack_call&, cudaStream_t) {
  return 0;
}
