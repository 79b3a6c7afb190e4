#pragma once
// The ledger: what a run has spent, and the price of single steps.

#include <cstdint>

namespace kevo {

/// The cost of one step. Wall times of concurrent steps overlap, so their sum can exceed the wall time of the
/// run.
struct spending {
  double wall_s = 0;    ///< [s]
  double device_s = 0;  ///< [s] time for which the device was reserved for measuring
  double money = 0;     ///< in the currency of the configured prices
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;

  spending& operator+=(const spending& other) {
    wall_s += other.wall_s;
    device_s += other.device_s;
    money += other.money;
    tokens_in += other.tokens_in;
    tokens_out += other.tokens_out;
    return *this;
  }
  spending& operator-=(const spending& other) {
    wall_s -= other.wall_s;
    device_s -= other.device_s;
    money -= other.money;
    tokens_in -= other.tokens_in;
    tokens_out -= other.tokens_out;
    return *this;
  }
  friend bool operator==(const spending&, const spending&) = default;
};

/// The totals of a run.
struct ledger {
  std::uint64_t proposals = 0;      ///< programs that operators proposed, known ones included
  std::uint64_t duplicates = 0;     ///< proposals whose program was already in the graph
  std::uint64_t no_proposals = 0;   ///< variations that ended without a program
  std::uint64_t evaluations = 0;    ///< finished first evaluations and re-evaluations
  std::uint64_t confirmations = 0;  ///< finished confirmations of possible champions
  std::uint64_t valid = 0;          ///< candidates whose latest evaluation is valid
  /// [s] run time: wall time over all sessions of the run, without the time for which the run waited for
  /// other processes to finish measuring
  double elapsed_s = 0;
  double waited_s = 0;  ///< [s] time for which evaluations waited for other processes
  spending variation;   ///< what the operators spent
  spending evaluation;  ///< what the fitness function spent
};

}  // namespace kevo
