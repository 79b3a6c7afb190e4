#pragma once
// Recorded tuning spaces from files: the cache of Kernel Tuner (JSON, schema 1.0 and 1.1, also those of
// tuning runs that were cut off) and the T4 results format, with the parameters of a T1 description if there
// is one.

#include <cstddef>
#include <string>

#include <kevo/lab/recorded_space.hpp>

namespace kevo {

/// [bytes] the largest file that is read.
inline constexpr std::size_t recorded_file_limit = std::size_t{64} << 20U;

struct recorded_source {
  std::string results;     ///< path of the cache or T4 file
  std::string parameters;  ///< path of a T1 file: order and domains of the parameters; may be empty
  std::string objective;   ///< what was measured; empty: what the file says, or "time"
  bool larger_is_better = false;
};

/// Reads a space. Times in these files are milliseconds. Throws kevo::error (input) with file, line, column
/// and JSON pointer for what is malformed.
recorded_space load_recorded_space(const recorded_source& from);

}  // namespace kevo
