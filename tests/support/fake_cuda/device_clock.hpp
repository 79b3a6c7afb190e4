#pragma once
// The simulated time that kevo-device and a worker share. While a timed call is under way the clock of
// kevo-device stands still but for what the worker's device adds; at other times it runs as the real one
// does.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <time.h>

namespace fake_cuda {

/// In the last page of every exported allocation.
struct device_page {
  std::atomic<std::uint32_t> lost;      ///< 1: the device is gone
  std::atomic<std::uint32_t> frozen;    ///< 1: a timed call is under way
  std::atomic<std::int64_t> frozen_at;  ///< real time when it began [ns]
  std::atomic<std::int64_t> elapsed;    ///< simulated since then [ns]
  std::atomic<std::uint32_t> late;      ///< 1: work is outstanding that was said to be done; 2: now it is due
  std::atomic<std::uint32_t> exits;     ///< 1: a worker has ended that was to end once
  std::atomic<std::uint32_t> launches;  ///< of kernels that are to hang once
  std::atomic<std::int64_t> runs_free_at;  ///< from this real time on the clock runs again [ns]
  std::atomic<std::int64_t> minimum_ns;    ///< no launch of a toy kernel is shorter
  std::atomic<std::int64_t> launch_ms;     ///< real time that a launch of a toy kernel takes
};
inline constexpr std::size_t device_page_bytes = 4096;

/// A worker that was killed must not hold the clock for ever.
inline constexpr std::int64_t longest_freeze_ns = 2'000'000'000;

std::int64_t real_ns();

/// Pages that this process may look at.
void watch(device_page* page);
void forget(device_page* page);

/// Worker: the clock stands still, `add` moves it, `let_run` gives it back to real time.
void freeze(device_page& page);
void add(device_page& page, double ns);
void let_run(device_page& page);

/// kevo-device: the page whose clock stands still; null: none does.
device_page* frozen_page();

/// kevo-device: the timed call is over.
void thaw();

/// What CLOCK_MONOTONIC shows in kevo-device. [ns]
std::int64_t shown_ns();

}  // namespace fake_cuda
