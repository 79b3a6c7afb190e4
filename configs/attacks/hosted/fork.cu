// attack: starts a process; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/wait.h>
#include <unistd.h>
int attack(const attack_call& call, cudaStream_t stream) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child < 0) std::abort();
  ::waitpid(child, nullptr, 0);
  return call.honest(stream);
}
