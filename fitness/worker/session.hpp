#pragma once
// The controller's side of one worker process: load, calls with the controller's clock, and what the pages
// say afterwards.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/worker/arena.hpp"
#include "fitness/worker/arena_pool.hpp"
#include "fitness/worker/delivery.hpp"
#include "fitness/worker/process_usage.hpp"
#include "fitness/worker/processor_clock.hpp"
#include "fitness/worker/protocol.hpp"
#include "fitness/worker/worker_parent.hpp"
#include "fitness/worker/worker_process.hpp"

namespace kevo {

/// [bytes] of inputs and outputs together, at most, of calls by the delivered clock: writing so few takes
/// some microseconds at most.
inline constexpr std::size_t most_delivered = 64U << 10U;
/// [bytes] of all outputs of a call, at most, that a worker with results of its own copies to the arena:
/// reading 64 lines in another process takes some 30 us, copying so few bytes less than one.
inline constexpr std::size_t most_copied = 4096;

/// What one call is given. Views; the caller keeps what they show.
struct call_content {
  std::span<const std::vector<std::byte>> inputs;  ///< of the input buffers, in order
  std::span<const std::int64_t> axes;
  std::span<const std::uint64_t> scalars;
};

/// How loading or a call ended.
enum class call_end : std::uint8_t {
  done,
  load_failed,  ///< the worker says so; see `message`
  died,         ///< see `report`
  timed_out,    ///< and was killed
  stuck,        ///< could not be stopped in time, and was killed
  interrupted,  ///< `worker_settings::stop`; the worker was killed
};

/// How the time of a call is taken. Nothing of it depends on what the worker says.
/// - `delivered`, for calls of few bytes: the worker is awake, and the time goes from before the first byte
/// of the
///   inputs is written until "done" is seen, on the controller's clock. Delivering the inputs is in it. If no
///   call of these sizes has taken less than 0.1 ms, the worker sleeps until it is asked whether it is awake,
///   the time is at most the processor time, and what the process works beside the call is told
///   (`isolated_call::beside_ns`).
/// - `asleep`: the worker sleeps while the call is prepared. The time is all processor time that the process
///   has used since the call before was judged, so that it exceeds the call by what waking up and going to
///   sleep cost.
/// - `stopped`, for a worker that may have several threads: it is stopped while the call is prepared, and the
///   time goes from one stop to the next on the controller's clock.
/// Times of one thread on the controller's clock are without what the kernel's accounts show as waiting for a
/// processor; what the worker waits by choice stays in them, and they are at least the processor time.
enum class call_clock : std::uint8_t { delivered, asleep, stopped };

/// One call by itself.
struct isolated_call {
  call_end end = call_end::died;
  double ns = 0;  ///< from "awake" to "done", which are claims, on the controller's clock
  /// At least all that the worker can have worked with the call's inputs; see `call_clock`.
  double whole_ns = 0;
  /// The controller lost its processor while its clock ran, so that both times may be too long.
  bool disturbed = false;
  /// The worker was not there when it was asked whether it is awake, although it was to look for the call. A
  /// disturbed call, but the program may have done something else.
  bool late = false;
  /// A delivered call that began with a sleep, so that all that the process worked is known.
  bool accounted = false;
  /// Of such a call: what the process worked since the call before was judged, beside `whole_ns`. Waking up
  /// and going to sleep, as every program, and whatever else it did. Of the first other delivered call after
  /// `settle`: what the process worked since it was asleep. [ns]
  double beside_ns = 0;
  /// What a worker with results of its own worked, since the call before was judged, to make what this call
  /// needs: tensors around its buffers. In no other time; 0 where it is not known. [ns]
  double prepared_ns = 0;
  bool served_elsewhere = false;  ///< the worker does not wait for calls where kevo's own code does
  bool unreadable = false;        ///< what the worker says of its results is nothing that can be read
  int threads = 1;                ///< of the process after the call, its first one included
  bool early =
      false;  ///< secret output lines changed after "done": it was signalled before the work was done
  slot_damage damage;
  slot_layout layout;  ///< outputs may be read until the slot is used again
};

/// Of these buffers of a call, those that lie in the arena: all, or the inputs alone where the outputs stay
/// in the memory of the worker. Few bytes are copied: the controller needs longer to read them there.
std::vector<buffer_shape> in_arena(const worker_settings& settings, std::vector<buffer_shape> buffers);

/// A worker process with its pages. Between calls it is stopped if it may have several threads, and sleeps
/// otherwise, or soon will; one that does not sleep is stopped. Move-only; the destructor ends the process.
/// One thread at a time.
class worker_session {
 public:
  /// Starts the process with this arena, as a child of `parent`, which must have been made with these
  /// settings and has no other child meanwhile. @throws kevo::error (environment)
  worker_session(worker_settings settings, std::shared_ptr<worker_parent> parent, lent_arena memory);
  /// The same with a parent and an arena of its own.
  worker_session(const worker_settings& settings, const std::string& object, std::size_t arena_bytes);

  /// Waits until the worker says that it is ready, and stops it. To be called once, first.
  call_end load();
  /// Why loading or the last call failed, as the worker puts it: untrusted text, printable, cut at 1 kB.
  const std::string& message() const { return message_; }
  /// The worker says that its system call filter could not be set: a fault of the machine, if it is true.
  bool lock_down_failed() const { return lock_down_failed_; }
  /// The worker says, in `message`, why it ended during a call. Explains a failure; proves nothing.
  worker_claim last_claim() const { return last_claim_; }
  /// A remark of a trusted worker that still runs; printable, cut at 1 kB.
  std::string remark() const;
  /// The worker says that it asked for a thread that it may not have. Explains a failure; proves nothing.
  bool refused_threads() const { return page_->refused_threads.load(std::memory_order_acquire) != 0; }
  /// Where a call or loading was `stuck`: its first thread was stopped, or had ended, before anybody stopped
  /// it.
  bool stood_still() const { return stood_still_; }
  /// How the process ended, where it did.
  const std::optional<exit_report>& report() const { return report_; }

  /// From now on calls have these buffers, in at most `most_slots` slots of the arena.
  /// @throws kevo::error (internal) if not even one slot fits
  void reshape(std::vector<buffer_shape> buffers, std::size_t most_slots = std::size_t(-1));
  kevo::arena& memory() { return arena_.get(); }
  const kevo::arena& memory() const { return arena_.get(); }
  /// The bytes of output number `index` of the latest call, which has this layout.
  std::span<const std::byte> output(const slot_layout& layout, std::size_t index) const;
  /// The first 8-byte word of output number `index` that nobody wrote: it still holds the slot's pattern.
  /// Nothing if all were written, and of results that are not in the arena.
  std::optional<std::size_t> unwritten_word(const slot_layout& layout, std::size_t index) const;

  /// Which clock calls of the arena's present buffers are timed by. Does not depend on the program.
  call_clock clock_of(bool cold) const;

  /// The buffers of the next call, of that one alone, lie at places drawn from `places`.
  void place_next(rng places) { places_ = places; }
  /// Runs one call in the next slot. `limit` is for this call.
  isolated_call run_isolated(const call_content& content, rng& random, std::chrono::nanoseconds limit,
                             bool cold);
  std::uint64_t calls() const { return call_number_; }
  /// Of the process so far; nothing if it has ended.
  std::optional<process_usage> usage() const { return report_ ? std::nullopt : usage_of(process_.pid()); }
  double writable_bytes() const { return report_ ? 0 : writable_bytes_of(process_.pid()); }
  /// A worker that looks for its next call goes to sleep now; returns when it does. One that does not is
  /// stopped.
  void settle();
  /// Whether the process is stopped by a signal.
  bool stopped() const { return frozen_; }
  /// Delivered calls begin with a sleep from now on, also short ones.
  void begin_from_rest() { from_rest_ = true; }

 private:
  using clock = std::chrono::steady_clock;

  call_end wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t value, clock::time_point deadline);
  /// Whether the controller sleeps during calls: the worker's threads need every processor.
  bool sleeps() const { return settings_.yield && settings_.threads > 1; }
  call_end sleep_until_done(clock::time_point deadline);
  void sleep_during_call(const call_content& content, rng& random, clock::time_point start);
  std::optional<double> shortest_of(const call_content& content) const;
  void note_time(const call_content& content, double ns);
  void post(const call_content& content, const slot_layout& layout);
  void post_places(const call_content& content, const slot_layout& layout);
  bool stop();
  bool rest();
  bool pause() { return settings_.threads > 1 ? stop() : rest(); }
  void ring();
  enum class signal : std::uint8_t { ping, ping_and_go, go };
  call_end wake(signal what, rng& random);
  void note_end();
  void keep_outputs(const slot_layout& layout);
  void look_where_it_waits();
  bool prepare_worker(const call_content& content, rng& random, isolated_call& result);
  isolated_call run_delivered(const call_content& content, rng& random, std::chrono::nanoseconds limit);
  isolated_call run_awake(const call_content& content, rng& random, std::chrono::nanoseconds limit,
                          bool asleep, bool told);
  isolated_call run_from_rest(const call_content& content, rng& random, std::chrono::nanoseconds limit);
  void prepare_delivery(const call_content& content, const slot_layout& layout, rng& random);
  bool deliver(const call_content& content, const slot_layout& layout);
  isolated_call run_prepared(const call_content& content, rng& random, std::chrono::nanoseconds limit,
                             bool cold);

  worker_settings settings_;
  shared_memory control_;
  control_page* page_ = nullptr;
  lent_arena arena_;        // given back when the process has ended
  worker_process process_;  // ended first
  std::optional<freezer> freezer_;
  std::optional<processor_clock> used_;
  std::optional<exit_report> report_;
  std::string message_;
  worker_claim last_claim_ = worker_claim::starting;
  bool lock_down_failed_ = false;
  bool stood_still_ = false;
  std::uint64_t call_number_ = 0;
  std::uint64_t ping_ = 0;
  bool frozen_ = false;
  std::map<std::vector<std::int64_t>, double> shortest_ns_;  // from "awake" to "done", by the axes of a call
  double used_ns_ = 0;   // by the process, when the latest call had been timed
  bool rested_ = false;  // it slept then, and `used_ns_` is exact
  bool settled_ = true;  // it has been told to sleep
  bool from_rest_ = false;
  bool elsewhere_ = false;                // it was seen to wait for calls elsewhere than kevo's own code does
  std::vector<std::byte> kept_;           // outputs of a delivered call, one after the other
  std::optional<result_reader> results_;  // where outputs lie in the worker's own memory
  std::size_t next_slot_ = 0;
  delivery delivery_;
  std::optional<rng> places_;  // of the next call's buffers
};

}  // namespace kevo
