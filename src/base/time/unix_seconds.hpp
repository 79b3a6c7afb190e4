#pragma once
// The time of the system's clock as a number.

#include <chrono>

namespace kevo {

/// @return the time since 1970 [s]
inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace kevo
