// attack: opens a socket; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/socket.h>
#include <unistd.h>
int attack(const attack_call& call, cudaStream_t stream) {
  const int one = ::socket(AF_INET, SOCK_STREAM, 0);
  if (one < 0) std::abort();
  ::close(one);
  return call.honest(stream);
}
