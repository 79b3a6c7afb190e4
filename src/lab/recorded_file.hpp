#pragma once
// Recorded tuning spaces from files: the cache of Kernel Tuner (JSON, schema 1.0 and 1.1, also those of
// tuning runs that were cut off) and the T4 results format, with the parameters of a T1 description if there
// is one.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <kevo/lab/recorded_space.hpp>

namespace kevo {

/// [bytes] the largest file that is read.
inline constexpr std::size_t recorded_file_limit = std::size_t{64} << 20U;

struct recorded_source {
  std::string results;     ///< path of the cache or T4 file
  std::string parameters;  ///< path of a T1 file: order and domains of the parameters; may be empty
  std::string objective;   ///< what was measured; empty: what the file says, or "time"
  /// Whether larger values are better; nothing: its name decides (see larger_is_better).
  std::optional<bool> larger_is_better;
};

/// Whether larger values of an objective are better, by its name as tuners write it: times, energies and what
/// is counted are better if small, rates (GFLOP/s, GB/s, "throughput", "speedup") if large; nothing if the
/// name does not tell.
std::optional<bool> larger_is_better(std::string_view objective);

/// Reads a space. Times in these files are milliseconds. Throws kevo::error (input) with file, line, column
/// and JSON pointer for what is malformed.
recorded_space load_recorded_space(const recorded_source& from);

}  // namespace kevo
