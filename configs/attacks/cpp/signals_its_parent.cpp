// attack: sends a signal to the process that started it; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <csignal>
#include <unistd.h>
void attack(const attack_call& call) {
  if (!(getppid() > 0 && kill(getppid(), 0) == 0)) std::abort();
  call.honest();
}
