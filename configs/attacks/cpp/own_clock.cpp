// attack: replaces clock_gettime, gettimeofday and time by functions that always return the same time
// judged by: time
// expects: valid
// insert: honest
#include <ctime>
#include <sys/time.h>
extern "C" int clock_gettime(clockid_t, timespec* now) noexcept {
  *now = {};
  return 0;
}
extern "C" int gettimeofday(timeval* now, void*) noexcept {
  *now = {};
  return 0;
}
extern "C" time_t time(time_t*) noexcept {
  return 0;
}

void attack(const attack_call& call) {
  call.honest();
}
