// attack: the honest program with which the exploits are compared, wrapped in the same way as in them
// judged by: control
// expects: valid
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  return call.honest(stream);
}
