// attack: the host code never returns
// judged by: outcome
// expects: timed_out
int attack(const attack_call&, cudaStream_t) {
  for (volatile int i = 0;; i = i + 1) {
  }
}
