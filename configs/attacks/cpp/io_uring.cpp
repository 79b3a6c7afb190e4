// attack: makes an io_uring, which bypasses filters of system calls; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/syscall.h>
#include <unistd.h>
void attack(const attack_call& call) {
  if (!([] { unsigned char parameters[256] = {}; return syscall(425, 4, parameters) >= 0; }())) std::abort();
  call.honest();
}
