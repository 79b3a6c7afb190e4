#pragma once
// Several calls in one graph, each of which begins only when the trusted side admits it: in front of a call
// stand a barrier, which holds the graph back, and a kernel that unmasks the inputs with a key that did not
// exist before. So a call finds nothing of those that come after it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"

namespace kevo::cuda {

/// The barriers of one process. Nothing is ever freed.
class admitted_run {
 public:
  driver_failure open(const driver& d, stream on) {
    d_ = &d;
    stream_ = on;
    void* pinned = nullptr;
    if (const auto code = d.host_allocate(&pinned, 4096, 0)) return {code, "pinning a page"};
    barrier_ = static_cast<volatile std::uint64_t*>(pinned);
    for (int i = 0; i < 6; ++i) barrier_[i] = 0;
    if (const auto code = d.host_device_pointer(&barrier_on_device_, pinned, 0))
      return {code, "mapping a page"};
    return {d.memory_allocate(&key_, 16), "allocating a key"};
  }
  /// @param barrier the trusted kernel kevo_barrier
  void hold_with(function barrier) { barrier_kernel_ = barrier; }

  /// Puts the next barrier on the stream (or into the graph that is captured): in front of a call or,
  /// `behind` it, one that says that the call has ended and holds nothing back.
  driver_failure enqueue_barrier(bool behind) {
    std::uint64_t wanted = ++barriers_made_;
    std::uint64_t limit_ns = behind ? 0 : barrier_limit_ns;
    void* arguments[] = {&barrier_on_device_, &wanted, &limit_ns, &key_};
    launch_configuration how;
    how.stream = stream_;
    return {d_->launch(&how, barrier_kernel_, arguments, nullptr), "a barrier"};
  }
  /// Where the barrier of a call leaves the key to its inputs.
  address key() const { return key_; }

  /// Puts an event into the graph that is captured: 2 k in front of call k, 2 k + 1 behind it.
  driver_failure record(std::size_t index) {
    while (events_.size() <= index) {
      event made = nullptr;
      if (const auto code = d_->event_create(&made, event_default)) return {code, "making an event"};
      events_.push_back(made);
    }
    return {d_->event_record_with(events_[index], stream_, event_record_external), "recording an event"};
  }

  /// Between the events of call `index`. [ns]
  driver_failure elapsed(std::size_t index, double& ns) const {
    float milliseconds = 0;
    const auto code = d_->event_elapsed(&milliseconds, events_[2 * index], events_[2 * index + 1]);
    ns = 1e6 * static_cast<double>(milliseconds);
    return {code, "reading the events"};
  }

  /// Runs the graph that was captured last, with `calls` calls. Tells the page when each barrier is reached
  /// and opens it when the page says so.
  driver_failure operator()(control_page& page, std::uint64_t number, graph_exec all, std::size_t calls) {
    const std::uint64_t first = barriers_made_ - 2 * calls + 1;  // of the barrier in front of call 0
    if (const auto code = d_->graph_launch(all, stream_)) return {code, "launching"};
    for (std::size_t n = 0; n < 2 * calls; ++n) {
      for (unsigned spins = 0; barrier_[1] < first + n; ++spins) {
        spin_pause();
        if (spins % query_every() != 0) continue;
        const auto code = d_->stream_query(stream_);
        if (code == error_not_ready) continue;
        if (code != success) return {code, ""};
        if (barrier_[1] < first + n) return {error_invalid_value, "a barrier was not reached"};
      }
      publish(page.ended, barrier_word(number, n));
      if (n % 2 != 0) continue;
      await_value(page.admitted, barrier_word(number, n));
      barrier_[4] = page.key[0];
      barrier_[5] = page.key[1];
      barrier_[0] = first + n;
    }
    driver_code code = error_not_ready;
    while (code == error_not_ready) code = d_->stream_query(stream_);
    if (code != success) return {code, ""};
    double total_ns = 0;
    for (std::size_t k = 0; k < calls; ++k) {
      double ns = 0;
      if (auto failure = elapsed(k, ns)) return failure;
      page.answer.each_event_ns[k] = static_cast<float>(ns);
      total_ns += ns;
    }
    page.answer.event_ns = total_ns;
    page.answer.unblocked = barrier_[2] > first ? 1 : 0;
    return {};
  }

 private:
  // A yield costs as much as a query of the stream.
  static unsigned query_every() { return few_processors() ? 16 : 256; }

  static constexpr std::uint64_t barrier_limit_ns = 500'000'000;
  const driver* d_ = nullptr;
  stream stream_ = nullptr;
  volatile std::uint64_t* barrier_ = nullptr;  // pinned: opened, reached, given up, -, the key
  address barrier_on_device_ = 0;
  address key_ = 0;
  function barrier_kernel_ = nullptr;
  std::uint64_t barriers_made_ = 0;
  std::vector<event> events_;
};

}  // namespace kevo::cuda
