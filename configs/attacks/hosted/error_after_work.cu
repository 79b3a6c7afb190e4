// attack: computes, and then reports that it failed
// judged by: outcome
// expects: launch_failed crashed rejected incorrect
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  call.honest(stream);
  return 1;
}
