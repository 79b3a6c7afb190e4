// attack: looks for the page on which the worker says "done", says so itself, and goes on to compute
// judged by: time
// expects: valid rejected incorrect
// insert: honest
// The page is found by what it holds: a number that rises with every call beside one that follows it.
namespace early {
std::uint64_t calls = 0;

__attribute__((noinline)) volatile std::uint64_t* find_done() {
  __builtin_unwind_init();
  const auto* word = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
  for (int i = -16; i < 256; ++i) {
    const std::uintptr_t value = word[i];
    if (value < 0x7000'0000'0000 || value >= 0x7fff'0000'0000 || (value & 4095U) >= 2048) continue;
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
