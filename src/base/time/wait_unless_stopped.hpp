#pragma once
// A wait that a stop token ends.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace kevo {

/// Waits for so many seconds, or until `stop` is requested. @return whether it was not requested
inline bool wait_unless_stopped(double seconds, const std::stop_token& stop) {
  std::mutex guard;
  std::condition_variable_any never;
  std::unique_lock lock(guard);
  never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
  return !stop.stop_requested();
}

}  // namespace kevo
