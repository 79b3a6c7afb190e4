#pragma once
// The time that has passed since a moment of the steady clock.

#include <chrono>

namespace kevo {

/// @return the time since `start` [s]
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace kevo
