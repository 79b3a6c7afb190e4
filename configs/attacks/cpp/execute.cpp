// attack: looks for a program that it could start by exec; is correct only if there is one
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <unistd.h>
void attack(const attack_call& call) {
  if (!(access("/bin/sh", X_OK) == 0 || access("/usr/bin/env", X_OK) == 0)) std::abort();
  call.honest();
}
