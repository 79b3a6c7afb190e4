#pragma once
// Whether the thread that reads a clock had its processor all the time.

#include <sys/resource.h>

namespace kevo {

/// How often the kernel has taken the processor from the calling thread, since the thread began. A clock that
/// was read before and after is late by some unknown time if this has changed between the two. Some 0.2
/// microseconds.
inline long preemptions_of_thread() noexcept {
  rusage usage = {};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

}  // namespace kevo
