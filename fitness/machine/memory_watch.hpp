#pragma once
// Whether other programs keep the memory of the machine busy. Runs share a machine by core, but all cores
// read through the same memory controllers.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kevo {

/// Reads `bytes` that no cache holds, on the calling thread's processor; the better of two attempts.
/// [bytes/s] Nothing where the machine has no instruction that empties caches. @param memory at least `bytes`
std::optional<double> read_bandwidth(const std::byte* memory, std::size_t bytes);

/// Compares readings with what the memory of this machine has shown before. One thread at a time.
class memory_watch {
 public:
  /// Takes a reading, in less than a millisecond. False: the memory is much slower than usual.
  bool look();
  /// The same for a reading that was taken elsewhere. [bytes/s]
  bool note(double bytes_per_s);
  /// Looks again until the memory is as fast as usual, but not for long.
  void await_quiet();

  /// What the memory reaches where nobody else uses it: the best quarter of the readings so far. 0: too few
  double usual() const;
  /// A sentence for the user where calls of `await_quiet` since the latest `forget` ended before the memory
  /// was quiet; empty otherwise.
  std::string disturbance() const;
  void forget() { awaited_ = given_up_ = 0, slowest_ = 1; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::vector<double> readings_;  // the latest ones
  int awaited_ = 0;
  int given_up_ = 0;
  double slowest_ = 1;  // of the readings that ended a wait in vain, as a share of the usual
};

}  // namespace kevo
