#pragma once
// What other programs do to a measurement.

#include <chrono>
#include <optional>
#include <string>

namespace kevo {

/// What the processors of the machine have spent since it was started. [ticks of 10 ms, usually]
struct processor_ticks {
  double stolen = 0;  ///< in which the host of a virtual machine ran something else
  double all = 0;
};

/// Watches the machine while it lives.
class neighbour_watch {
 public:
  neighbour_watch();

  /// The share of the time since it was made in which some program of the machine was ready to run and had no
  /// processor (/proc/pressure/cpu), 0 to 1. Nothing where the kernel does not tell, or after less than a
  /// millisecond.
  std::optional<double> contention() const;

  /// The share of the processors' time since it was made that the host of a virtual machine gave to others
  /// (/proc/stat), 0 to 1. Nothing where the kernel does not tell, or after less than 0.1 s of that time.
  std::optional<double> stolen() const;

  /// Sentences for the user where these shares are large enough to make timings uncertain; empty otherwise.
  std::string disturbance() const;

 private:
  std::chrono::steady_clock::time_point start_;
  std::optional<double> stalled_us_;
  std::optional<processor_ticks> ticks_;
};

/// The cumulative time in a pressure file's line "some avg10=... total=123". [us] Nothing if there is none.
std::optional<double> stalled_time(const std::string& pressure);

/// From the first line of /proc/stat, "cpu  user nice system idle ..." (proc(5)). Nothing if it is not there.
std::optional<processor_ticks> ticks_of(const std::string& stat);

/// The share of the time between two looks that was stolen, 0 to 1; nothing if that time is less than 10
/// ticks.
std::optional<double> stolen_share(const processor_ticks& before, const processor_ticks& after);

}  // namespace kevo
