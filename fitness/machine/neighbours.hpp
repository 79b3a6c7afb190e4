#pragma once
// What other programs do to a measurement.

#include <chrono>
#include <optional>
#include <string>

namespace kevo {

/// Watches the machine while it lives.
class neighbour_watch {
 public:
  neighbour_watch();

  /// The share of the time since it was made in which some program of the machine was ready to run and had no
  /// processor (/proc/pressure/cpu), 0 to 1. Nothing where the kernel does not tell, or after less than a
  /// millisecond.
  std::optional<double> contention() const;

  /// A sentence for the user where that share is large enough to make timings uncertain; empty otherwise.
  std::string disturbance() const;

 private:
  std::chrono::steady_clock::time_point start_;
  std::optional<double> stalled_us_;
};

/// The cumulative time in a pressure file's line "some avg10=... total=123". [us] Nothing if there is none.
std::optional<double> stalled_time(const std::string& pressure);

}  // namespace kevo
