#pragma once
// A run whose work waits on the device until the trusted clock runs.

#include <cstdint>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"

namespace kevo::cuda {

/// A stream with two events, and the kernel that holds it back. One to a process; nothing is ever freed.
class held_run {
 public:
  /// Makes the events and the page that the kernel watches.
  driver_failure open(const driver& d, stream on) {
    d_ = &d;
    stream_ = on;
    if (const auto code = d.event_create(&begin_, event_default)) return {code, "making an event"};
    if (const auto code = d.event_create(&end_, event_default)) return {code, "making an event"};
    void* pinned = nullptr;
    if (const auto code = d.host_allocate(&pinned, 4096, 0)) return {code, "pinning a page"};
    barrier_ = static_cast<volatile std::uint64_t*>(pinned);
    for (int i = 0; i < 3; ++i) barrier_[i] = 0;
    if (const auto code = d.host_device_pointer(&barrier_on_device_, pinned, 0))
      return {code, "mapping a page"};
    return {};
  }
  /// @param block the trusted kernel kevo_block; null: nothing is held back
  void hold_with(function block) { block_ = block; }

  /// Puts what `enqueue()` puts on the stream behind the kernel and between the events, says that it is
  /// armed, waits to be released, and for the end. `enqueue` answers a driver_failure.
  template <class Enqueue>
  driver_failure operator()(control_page& page, std::uint64_t number, const Enqueue& enqueue) const {
    const bool blocked = page.request.blocked != 0 && block_ != nullptr;
    if (blocked) {
      std::uint64_t limit_ns = page.request.block_limit_ns;
      std::uint64_t wanted = number;
      address barrier = barrier_on_device_;
      void* arguments[] = {&barrier, &wanted, &limit_ns};
      launch_configuration how;
      how.stream = stream_;
      if (const auto code = d_->launch(&how, block_, arguments, nullptr))
        return {code, "the blocking kernel"};
    }
    if (const auto code = d_->event_record(begin_, stream_)) return {code, "recording an event"};
    driver_failure failure = enqueue();
    if (!failure) failure = {d_->event_record(end_, stream_), "recording an event"};
    // The kernel that holds the calls back must be seen to run, or the switch of contexts would be in the
    // time.
    if (blocked && !failure) {
      while (barrier_[1] != number && d_->stream_query(stream_) == error_not_ready) spin_pause();
    }
    publish(page.armed, number);
    await_value(page.release, number);
    barrier_[0] = number;
    if (failure) {
      d_->stream_synchronize(stream_);
      return failure;
    }
    driver_code code = error_not_ready;
    while (code == error_not_ready) code = d_->event_query(end_);
    if (code != success) return {code, ""};
    float milliseconds = 0;
    if (const auto elapsed = d_->event_elapsed(&milliseconds, begin_, end_))
      return {elapsed, "reading the events"};
    page.answer.unblocked = blocked && barrier_[2] == number ? 1 : 0;
    page.answer.event_ns = 1e6 * static_cast<double>(milliseconds);
    return {};
  }

 private:
  const driver* d_ = nullptr;
  stream stream_ = nullptr;
  event begin_ = nullptr;
  event end_ = nullptr;
  volatile std::uint64_t* barrier_ = nullptr;  // pinned; the blocking kernel reads it
  address barrier_on_device_ = 0;
  function block_ = nullptr;
};

}  // namespace kevo::cuda
