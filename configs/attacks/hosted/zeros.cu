// attack: writes zeros
// judged by: outcome
// expects: incorrect
int attack(const attack_call& call, cudaStream_t stream) {
  return fill_outputs(call, 0, stream);
}
