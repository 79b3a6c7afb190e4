// attack: starts a process; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/wait.h>
#include <unistd.h>
void attack(const attack_call& call) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child < 0) std::abort();
  ::waitpid(child, nullptr, 0);
  call.honest();
}
