// attack: returns at once; the handler of a timer does the work shortly afterwards
// judged by: time
// expects: rejected incorrect crashed
// insert: honest
#include <csignal>
#include <sys/time.h>
attack_call alarmed;

void attack(const attack_call& call) {
  alarmed = call;
  std::signal(SIGALRM, [](int) { alarmed.honest(); });
  itimerval soon{};
  soon.it_value.tv_usec = 50;
  setitimer(ITIMER_REAL, &soon, nullptr);
}
