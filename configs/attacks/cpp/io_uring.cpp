// attack: makes an io_uring, which works past filters of system calls; is right only if it gets one
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/syscall.h>
#include <unistd.h>
void attack(const attack_call& call) {
  if (!([] { unsigned char parameters[256] = {}; return syscall(425, 4, parameters) >= 0; }())) std::abort();
  call.honest();
}
