#pragma once
// The trusted side of one CUDA worker: requests through the shared region, with an eye on whether its process
// still lives. Needs no CUDA.

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo::cuda {

/// What a run of calls took.
struct timed_run {
  worker_answer answer;
  double outside_ns = 0;
  double event_ns = 0;
  std::vector<double> each_event_ns;  ///< of admitted calls
  bool unblocked = false;
};

/// One call of an admitted run, from the moment it was admitted to the moment its end was seen.
struct admitted_call {
  worker_answer answer;
  double ns = 0;
};

/// A worker's shared region, mapped. Not thread-safe.
class worker_link {
 public:
  /// @param region descriptor of the shared memory; @param process pidfd of the worker
  /// @throws kevo::error (environment) if the region cannot be mapped
  worker_link(detail::descriptor region, detail::descriptor process);
  worker_link(const worker_link&) = delete;
  worker_link& operator=(const worker_link&) = delete;
  ~worker_link();

  /// Waits until it says that it is ready (or that it cannot be: `refused` with its message).
  worker_answer wait_ready(std::chrono::nanoseconds limit);
  worker_answer load(std::uint32_t slot, std::string_view module_bytes, std::chrono::nanoseconds limit);
  /// @param masked bytes of the first buffers, the inputs, that are masked until the call is admitted; empty:
  /// none is; @param alone the call will be made by `step`; otherwise by `join` and `run`, together with
  /// others
  worker_answer prepare(std::uint32_t slot, std::string_view plan_bytes,
                        const std::vector<std::uint64_t>& offsets, const std::vector<std::uint64_t>& masked,
                        bool alone, std::chrono::nanoseconds limit);
  /// Makes one graph of the first `count` calls that were prepared. @param admitted each waits to be admitted
  worker_answer join(std::uint32_t count, bool admitted, std::chrono::nanoseconds limit);
  worker_answer drop();
  /// One call by itself, from the request to "done".
  worker_answer step(std::uint32_t slot, const std::vector<std::uint64_t>& offsets,
                     std::chrono::nanoseconds limit, step_kind kind = step_kind::usual);
  /// The same, held: what the call does on the device waits for `held_word` of the number that `release` is
  /// given. `release` is called when the worker says that everything has been launched, or after `patience`;
  /// the clock of the call begins in it. @param launched whether the worker has said so in time
  worker_answer held_step(const std::vector<std::uint64_t>& offsets, std::chrono::nanoseconds patience,
                          const std::function<void(std::uint64_t)>& release, std::chrono::nanoseconds limit,
                          bool& launched, step_kind kind);
  /// Where the results of the last call lie, as the worker says: claims. Empty: it has named no results, or
  /// not `count`.
  std::vector<result_claim> claims(std::size_t count) const;
  /// Asks for bytes of the block of a result of the last call. [offset: bytes from its beginning]
  worker_answer show(std::uint32_t result, std::uint64_t offset,
                     std::array<unsigned char, shown_bytes>& shown);
  /// A little work on the device in the worker's context.
  worker_answer touch();
  /// What the worker has left beside its last answer: a claim, made printable.
  std::string remark() const;
  /// Asks for nothing, so that a worker that rests is awake for what comes next.
  worker_answer wake();
  /// Runs the calls that were joined. The clock runs from release to done.
  timed_run run(bool blocked, std::chrono::nanoseconds limit);

  /// Begins a run of admitted calls: returns when the first one waits.
  worker_answer begin_admitted();
  /// Admits the next call, whose inputs this key unmasks, and waits for its end.
  admitted_call admit(const std::array<std::uint64_t, 2>& key, std::chrono::nanoseconds limit);
  /// After the last call. `outside_ns` is not set.
  timed_run end_admitted();

  /// A time-out or a death is final: every later request answers the same.
  bool usable() const { return usable_; }

 private:
  using clock = std::chrono::steady_clock;
  /// Whether the end of a wait is the end of a time that is measured.
  enum class wait_is : std::uint8_t { untimed, timed };
  std::uint64_t post(worker_request kind, std::string_view payload);
  call_end wait_for(const shared_word& word, std::uint64_t value, clock::time_point deadline,
                    wait_is is = wait_is::untimed);
  template <class Reached>
  call_end wait_until(const shared_word& word, const Reached& reached, clock::time_point deadline,
                      wait_is is = wait_is::untimed);
  worker_answer await_barrier(std::uint64_t barrier, clock::time_point deadline,
                              wait_is is = wait_is::untimed);
  worker_answer finish(std::uint64_t number, clock::time_point deadline, wait_is is = wait_is::untimed);
  worker_answer end_with(call_end end);
  bool alive() const;

  detail::descriptor process_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  control_page* page_ = nullptr;
  named_results* named_ = nullptr;
  std::uint64_t number_ = 0;
  std::uint64_t calls_ended_ = 0;  // of the admitted run
  bool usable_ = true;
  worker_answer last_;
};

/// Untrusted text made printable and cut.
std::string printable(std::string_view text);

}  // namespace kevo::cuda
