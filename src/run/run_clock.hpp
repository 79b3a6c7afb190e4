#pragma once
// The run time: what the stop rule `seconds` counts and what the journal notes with every event.

#include <chrono>
#include <cstddef>
#include <mutex>

namespace kevo {

/// Goes on from an offset and stands still while the run waits for another process. Never goes back; may be
/// used by several threads.
class run_clock {
 public:
  /// @param offset_s run time of the earlier sessions [s]
  explicit run_clock(double offset_s) : offset_s_(offset_s) {}

  /// Run time. [s]
  double now_s() const {
    const std::scoped_lock lock(guard_);
    return offset_s_ + seconds(began_, waits_ > 0 ? waits_since_ : clock::now()) - waited_s_;
  }

  /// Tells that a wait begins or ends. Waits may overlap.
  void wait(bool begins) {
    const std::scoped_lock lock(guard_);
    if (begins) {
      if (waits_++ == 0) waits_since_ = clock::now();
    } else if (waits_ > 0 && --waits_ == 0) {
      waited_s_ += seconds(waits_since_, clock::now());
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  static double seconds(clock::time_point from, clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }

  mutable std::mutex guard_;
  double offset_s_;
  clock::time_point began_ = clock::now();
  std::size_t waits_ = 0;          ///< that last at present
  clock::time_point waits_since_;  ///< begin of the first of them
  double waited_s_ = 0;            ///< [s] in waits that have ended
};

}  // namespace kevo
