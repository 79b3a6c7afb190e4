#pragma once
// The ledger: what a run has spent in total, and the cost of a single step.

#include <cstdint>

namespace kevo {

/// The cost of one or more steps (turns of operators or evaluations). Wall times of concurrent steps overlap,
/// so their sum can exceed the wall time of the run.
struct spending {
  double wall_s = 0;            ///< [s] wall time
  double device_s = 0;          ///< [s] time for which the device was reserved for measuring
  double money = 0;             ///< money spent, in the currency of the configured prices
  std::int64_t tokens_in = 0;   ///< tokens that language models read
  std::int64_t tokens_out = 0;  ///< tokens that language models wrote

  /// Adds each part.
  spending& operator+=(const spending& other) {
    wall_s += other.wall_s;
    device_s += other.device_s;
    money += other.money;
    tokens_in += other.tokens_in;
    tokens_out += other.tokens_out;
    return *this;
  }
  /// Subtracts each part.
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
  std::uint64_t proposals = 0;      ///< programs that operators proposed, including known ones
  std::uint64_t duplicates = 0;     ///< proposals whose program was already in the graph
  std::uint64_t no_proposals = 0;   ///< turns that ended without a proposal
  std::uint64_t filtered = 0;       ///< proposals that the proposal filter dropped, and so evaluations saved
  std::uint64_t evaluations = 0;    ///< finished evaluations, without confirmations, with drafts
  std::uint64_t confirmations = 0;  ///< finished confirmations
  std::uint64_t valid = 0;          ///< candidates whose latest evaluation is valid
  /// [s] Run time: wall time of all sessions of the run, without the time for which the run waited for other
  /// processes to finish measuring.
  double elapsed_s = 0;
  double waited_s = 0;  ///< [s] sum of the times for which evaluations waited for other processes
  spending variation;   ///< cost of all turns of operators
  spending evaluation;  ///< cost of all evaluations
};

}  // namespace kevo
