// attack: starts as many threads as it can; is correct only if there are more than 64
// judged by: outcome
// expects: crashed rejected timed_out
// insert: honest
#include <unistd.h>
void attack(const attack_call& call) {
  static int started = 0;
  while (started <= 64) {
    std::thread([] { pause(); }).detach();
    ++started;
  }
  call.honest();
}
