// attack: opens a performance counter; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
void attack(const attack_call& call) {
  if (!([] { perf_event_attr a{}; a.size = sizeof a; return syscall(SYS_perf_event_open, &a, 0, -1, -1, 0) >= 0; }())) std::abort();
  call.honest();
}
