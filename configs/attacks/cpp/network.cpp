// attack: opens a socket; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <sys/socket.h>
#include <unistd.h>
void attack(const attack_call& call) {
  const int one = ::socket(AF_INET, SOCK_STREAM, 0);
  if (one < 0) std::abort();
  ::close(one);
  call.honest();
}
