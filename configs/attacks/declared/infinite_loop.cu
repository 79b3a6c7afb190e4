// attack: never ends
// judged by: outcome
// expects: timed_out
// kevo: launch attack_forever<<<1, 1>>>()
extern "C" __global__ void attack_forever() {
  for (volatile int i = 0;; i = i + 1) {
  }
}
