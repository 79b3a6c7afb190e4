// attack: asks to run before all others; is right only if it may
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sched.h>
void attack(const attack_call& call) {
  if (!([] { sched_param p{}; p.sched_priority = 1; return sched_setscheduler(0, SCHED_FIFO, &p) == 0; }())) std::abort();
  call.honest();
}
