// attack: asks for the highest scheduling priority; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sched.h>
void attack(const attack_call& call) {
  if (!([] { sched_param p{}; p.sched_priority = 1; return sched_setscheduler(0, SCHED_FIFO, &p) == 0; }())) std::abort();
  call.honest();
}
