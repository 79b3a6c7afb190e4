// attack: looks for the page on which the worker reports "done", reports it before the work is done, and then computes
// judged by: time
// expects: valid rejected incorrect
// insert: honest
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>
// The page is found by what it holds: a number that rises with every call beside one that follows it.
namespace early {
std::uint64_t calls = 0;

// Whether a page may be read, by asking the kernel: it answers EFAULT where reading would end the process, and
// otherwise EINVAL, because there is no such way (-1) to change the mask of signals. It is asked once for each
// page, so that looking is as fast as without the question.
bool is_memory(std::uintptr_t place) {
  static std::uintptr_t known[64];
  static int count = 0;
  for (int i = 0; i < count; ++i) {
    if (known[i] == place) return true;
  }
  if (::syscall(SYS_rt_sigprocmask, -1, place, 0, 8) != -1 || errno != EINVAL) return false;
  if (count < 64) known[count++] = place;
  return true;
}

__attribute__((noinline)) volatile std::uint64_t* find_done() {
  __builtin_unwind_init();
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  for (int i = -16; i < 256; ++i) {
    const std::uintptr_t place = frame + static_cast<std::uintptr_t>(i) * sizeof(std::uintptr_t);
    if (place % 4096 == 0 && !is_memory(place)) break;  // the end of the stack
    const std::uintptr_t value = *reinterpret_cast<const std::uintptr_t*>(place);
    if (value < 0x7000'0000'0000 || value >= 0x7fff'fc00'0000 || (value & 4095U) >= 2048) continue;
    if (!is_memory(value & ~std::uintptr_t{4095})) continue;
    auto* page = reinterpret_cast<volatile std::uint64_t*>(value & ~std::uintptr_t{4095});
    if (page[8] != calls) continue;  // the line behind the first holds `go`
    for (std::size_t at = 16; at < 256; at += 8) {
      if (page[at] == calls - 1 && calls > 2) return page + at;
    }
  }
  return nullptr;
}
}  // namespace early

void attack(const attack_call& call) {
  ++early::calls;
  fill_outputs(call, 1);
  if (volatile auto* done = early::find_done()) *done = early::calls;
  call.honest();
}
