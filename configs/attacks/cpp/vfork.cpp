// attack: starts a process by vfork; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/wait.h>
#include <unistd.h>
void attack(const attack_call& call) {
  if (!([] { const pid_t child = ::vfork(); if (child == 0) ::_exit(0); return child > 0; }())) std::abort();
  call.honest();
}
