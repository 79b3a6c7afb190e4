#pragma once
// Where the workers of one arena come from, and what is done in advance so that the device waits for none.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <string>

#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/measure/device_time_spent.hpp"
#include "fitness/cuda/worker/process.hpp"

namespace kevo::cuda {

/// Workers of one arena, one at a time. A worker comes to be in two steps:
/// * Its process is set up in the sandbox and *rests*: it has loaded the driver's library and not touched the
///   device. This can be done while something is timed.
/// * It *begins*: it makes its context, in some 80 ms. Contexts start and end one after the other, those of
///   other devices of the host included, and nothing can be timed meanwhile, but checked.
/// The next worker has begun before it is needed, and the one after that rests.
///
/// Processes that another one forks (`worker_options::fork`) do not rest. Several of them begin together,
/// which takes less than twice the time of one.
class worker_source {
 public:
  /// @param ahead how many have begun before they are needed; 0: none
  worker_source(device_client& device, worker_options options, std::uint64_t arena_bytes, std::size_t ahead);
  worker_source(const worker_source&) = delete;
  worker_source& operator=(const worker_source&) = delete;
  ~worker_source();

  /// Ends the worker in use and takes a fresh one. @throws kevo::error (environment) if none starts
  /// @param timing for times: where several are ahead, no others begin beside it, because whoever measures
  /// would have to wait for all of them
  void fresh(bool timing = false);
  /// Ends the worker in use.
  void end();
  /// Lets more begin, for what follows: after the timing of an evaluation, so that the rest of it and the
  /// checks of the next one go on while they make their contexts. One, or as many as are to be ahead.
  void replace();
  /// While `wanted`, none starts before it is needed, and those that have started are ended and have left the
  /// device: each takes some 600 MB of it. Not while a worker is in use.
  void start_none_ahead(bool wanted);
  /// Waits until neither those that have begun nor the one that ended last make work for the device.
  void settle();
  bool running() const { return current_ != nullptr; }
  std::uint32_t arena() const { return arena_.number; }
  std::uint64_t arena_bytes() const { return arena_.bytes; }
  device_client& device() const { return *device_; }
  /// How the worker in use ended, if it has.
  std::string death() const;
  /// Where the time goes; null: nowhere.
  void account(device_time_spent* to) { spent_ = to; }
  device_time_spent& spent() { return spent_ != nullptr ? *spent_ : unused_; }

 private:
  using worker = std::unique_ptr<worker_process>;
  /// Processes that are being set up on another thread.
  struct set_up {
    std::deque<worker> begun;
    std::deque<worker> resting;
  };

  worker start(bool begins) const;
  void begin_more(std::size_t count);
  void set_up_more(std::size_t begin, std::size_t rest);
  void gather();
  worker next();

  device_client* device_;
  worker_options options_;
  device_client::opened_arena arena_;
  std::size_t ahead_;
  worker current_;
  std::deque<worker> spare_;    // have begun
  std::deque<worker> resting_;  // have not
  std::future<set_up> coming_;
  bool some_begin_ = false;  // of those that are coming
  bool none_ahead_ = false;
  std::future<void> leaving_;  // a context takes a while to go
  device_time_spent* spent_ = nullptr;
  device_time_spent unused_;
};

}  // namespace kevo::cuda
