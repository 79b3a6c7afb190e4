#pragma once
// Words in memory that two processes share: how one changes a word, and how the other waits for it.
//
// Who waits spins, because most of those who wait here measure. Where processors are few, spinning keeps from
// running what is waited for: there the one who waits yields, and then sleeps on the word (futex) until it is
// changed. Waking up takes longer than the differences that are measured, so a wait that is timed yields for
// milliseconds first.

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include <climits>

namespace kevo::cuda {

using shared_word = std::atomic<std::uint64_t>;
static_assert(shared_word::is_always_lock_free && sizeof(shared_word) == sizeof(std::uint64_t));
static_assert(std::endian::native == std::endian::little, "a futex is the lower half of a word");

/// Whether there are so few processors that whoever spins keeps from running what it waits for: kevo-device,
/// the workers of candidate and baseline, and the compilers of the next candidates.
inline bool few_processors() {
  static const bool few = std::thread::hardware_concurrency() < 4;
  return few;
}

/// Spinning, in a way that is kind to the other thread of the core; where processors are few, to all others.
inline void spin_pause() {
  if (few_processors()) {
    std::this_thread::yield();
    return;
  }
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How often one who waits yields before it sleeps, where processors are few; a yield takes some 0.3 us.
inline constexpr unsigned yields_before_sleep = 200;
inline constexpr unsigned yields_while_timed = 16'000;

/// Sleeps until the word is changed by `publish`, at most `longest`; not at all if it is no longer `seen`. It
/// may return early.
inline void sleep_on(const shared_word& word, std::uint64_t seen, std::chrono::nanoseconds longest) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec limit{static_cast<std::time_t>(s.count()), static_cast<long>((longest - s).count())};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, static_cast<std::uint32_t>(seen), &limit, nullptr, 0);
}

/// Changes the word, and wakes whoever sleeps on it. Everything that was written before is visible to whoever
/// sees the new value.
inline void publish(shared_word& word, std::uint64_t value) {
  word.store(value, std::memory_order_release);
  if (few_processors()) ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// The same, for one who sleeps until then wherever it runs (await_asleep).
inline void publish_and_wake(shared_word& word, std::uint64_t value) {
  word.store(value, std::memory_order_release);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
/// Waits without a limit until the word is not 0, and takes no processor meanwhile.
inline void await_asleep(const shared_word& word) {
  while (word.load(std::memory_order_acquire) == 0) sleep_on(word, 0, std::chrono::seconds(1));
}

/// Waits without a limit until `reached(value of the word)`.
template <class Reached>
void await_word(const shared_word& word, const Reached& reached) {
  for (unsigned spins = 0;; ++spins) {
    const auto seen = word.load(std::memory_order_acquire);
    if (reached(seen)) return;
    if (few_processors() && spins >= yields_before_sleep) {
      sleep_on(word, seen, std::chrono::milliseconds(10));
    } else {
      spin_pause();
    }
  }
}
inline void await_value(const shared_word& word, std::uint64_t value) {
  await_word(word, [value](std::uint64_t seen) { return seen == value; });
}

}  // namespace kevo::cuda
