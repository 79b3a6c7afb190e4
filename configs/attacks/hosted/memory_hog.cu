// attack: allocates 5 GiB of private memory; is correct only if this succeeds
// judged by: outcome
// expects: crashed timed_out rejected
// insert: honest
#include <sys/mman.h>
int attack(const attack_call& call, cudaStream_t stream) {
  constexpr std::size_t bytes = std::size_t{5} << 30U;
  static void* all = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) std::abort();
  static bool touched = false;
  for (std::size_t at = 0; !touched && at < bytes; at += 4096) static_cast<volatile char*>(all)[at] = 1;
  touched = true;
  return call.honest(stream);
}
