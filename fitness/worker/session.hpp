#pragma once
// The controller's side of one worker process: load, calls with the controller's clock, and what the pages
// say afterwards.

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/process/process.hpp"
#include "fitness/worker/arena.hpp"
#include "fitness/worker/protocol.hpp"

namespace kevo {

/// How a worker is started.
struct worker_settings {
  std::string program;                 ///< path of kevo-worker-cpu; empty: `find_worker_program()`
  std::vector<std::string> libraries;  ///< further libraries it may load, by file name; trusted objects only
  sandbox_mode sandbox = sandbox_mode::required;
  process_limits limits;
  int threads = 1;
  std::vector<int> cpus;  ///< processors of the worker; empty: any
  bool yield = false;     ///< controller and worker share a processor: give way while waiting
  bool patient = false;   ///< nothing is timed: sleep while waiting
  double load_limit_s = 10;
  std::stop_token stop;
};

/// kevo-worker-cpu: $KEVO_WORKER_CPU, or beside the running program, in its parent folder, or in
/// ../libexec/kevo.
/// @throws kevo::error (environment) if it is nowhere
std::string find_worker_program();

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

/// One call by itself: the clock runs from `go` to `done`, and begins when the worker is seen to spin. Its
/// inputs lie in the arena from the moment it may run, so a candidate could compute first and only then
/// pretend to spin: `wake_ns` shows it, and whoever uses `ns` adds what exceeds the wake-up of a trusted
/// worker.
struct isolated_call {
  call_end end = call_end::died;
  double ns = 0;
  double wake_ns = 0;  ///< from before the worker may run until it was seen to spin
  bool early =
      false;  ///< secret output lines changed after "done": it was signalled before the work was done
  slot_damage damage;
  slot_layout layout;  ///< outputs may be read until the slot is used again
};

/// Many distinct calls under one clock, from before the worker may run to its confirmed stop.
struct interval_call {
  call_end end = call_end::died;
  double ns = 0;  ///< of the whole interval
  bool early = false;
  bool ahead = false;  ///< an output was written before its call might begin
  slot_damage damage;
  std::vector<slot_layout> layouts;
};

/// A worker process with its pages. The worker is stopped whenever no member function runs. Move-only; the
/// destructor ends the process. One thread at a time.
class worker_session {
 public:
  /// Starts the process with an arena of `arena_bytes`. @throws kevo::error (environment)
  worker_session(worker_settings settings, const std::string& object, std::size_t arena_bytes);

  /// Waits until the worker says that it is ready, and stops it. To be called once, first.
  call_end load();
  /// Why loading failed, as the worker puts it: untrusted text, printable, cut at 1 kB.
  const std::string& message() const { return message_; }
  /// The worker says that its system call filter could not be set: a fault of the machine, if it is true.
  bool lock_down_failed() const { return lock_down_failed_; }
  /// How the process ended, where it did.
  const std::optional<exit_report>& report() const { return report_; }

  kevo::arena& memory() { return arena_; }
  const kevo::arena& memory() const { return arena_; }
  /// The bytes of output number `index` in a slot.
  std::span<const std::byte> output(const slot_layout& layout, std::size_t index) const;

  /// Runs one call in the next slot. `limit` is for this call.
  isolated_call run_isolated(const call_content& content, rng& random, std::chrono::nanoseconds limit,
                             bool cold);

  /// Runs one call for each content, at most `memory().slots()`.
  interval_call run_interval(std::span<const call_content> contents, rng& random,
                             std::chrono::nanoseconds limit);

  /// Time from asking the worker to stop until it was known to stand still, of each call so far. [ns]
  const std::vector<double>& stop_latencies() const { return stop_latencies_; }
  std::uint64_t calls() const { return call_number_; }

 private:
  using clock = std::chrono::steady_clock;

  template <class Word>
  call_end wait_for(const std::atomic<Word>& word, Word value, clock::time_point deadline);
  void post(const call_content& content, const slot_layout& layout);
  bool stop();
  call_end wake();
  void note_end();

  worker_settings settings_;
  shared_memory control_;
  control_page* page_ = nullptr;
  kevo::arena arena_;
  child_process process_;
  std::optional<freezer> freezer_;
  std::optional<exit_report> report_;
  std::string message_;
  bool lock_down_failed_ = false;
  std::uint64_t call_number_ = 0;
  std::uint64_t ping_ = 0;
  std::size_t next_slot_ = 0;
  std::vector<double> stop_latencies_;
};

}  // namespace kevo
