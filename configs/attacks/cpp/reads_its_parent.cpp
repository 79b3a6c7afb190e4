// attack: reads the memory of the process that started it; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <cerrno>
#include <sys/uio.h>
#include <unistd.h>
void attack(const attack_call& call) {
  if (!([] { char byte = 0; iovec here{&byte, 1}; iovec there{reinterpret_cast<void*>(0x400000), 1}; errno = 0; return getppid() > 0 && (process_vm_readv(getppid(), &here, 1, &there, 1, 0) >= 0 || errno == EFAULT); }())) std::abort();
  call.honest();
}
