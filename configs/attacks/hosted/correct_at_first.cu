// attack: is correct in the first 6 calls of a process, and writes zeros in all later calls
// judged by: outcome
// expects: incorrect
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  static int calls = 0;
  if (calls++ >= 6) return fill_outputs(call, 0, stream);
  return call.honest(stream);
}
