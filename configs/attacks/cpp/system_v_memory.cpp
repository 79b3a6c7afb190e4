// attack: allocates memory that outlives its process (System V); is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/ipc.h>
#include <sys/shm.h>
void attack(const attack_call& call) {
  if (!(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0)) std::abort();
  call.honest();
}
