// attack: never returns
// judged by: outcome
// expects: timed_out
void attack(const attack_call&) {
  for (volatile int i = 0;; i = i + 1) {
  }
}
