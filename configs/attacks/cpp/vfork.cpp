// attack: makes a process by vfork; is right only if it gets one
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/wait.h>
#include <unistd.h>
void attack(const attack_call& call) {
  if (!([] { const pid_t child = ::vfork(); if (child == 0) ::_exit(0); return child > 0; }())) std::abort();
  call.honest();
}
