// attack: the honest program, wrapped as the exploits wrap it: what they are compared with
// judged by: control
// expects: valid
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  return call.honest(stream);
}
