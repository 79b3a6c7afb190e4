#pragma once
// What the trusted process on the device and a CUDA worker share: one region of host memory, with a control
// page and room for what a request brings, and one arena of device memory, handed over as a descriptor. The
// worker's side is written by a process that runs candidates, so every value read from it is a claim: read
// once, then validated.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fitness/cuda/wire/shared_word.hpp"

namespace kevo::cuda {

inline constexpr std::uint32_t worker_protocol = 7;

/// File descriptors of the worker.
inline constexpr int control_descriptor = 3;
inline constexpr int arena_descriptor = 4;

inline constexpr std::size_t most_buffers = 64;
inline constexpr std::size_t most_slots = 512;

/// What a step does. A process that has a candidate is asked for the usual alone.
enum class step_kind : std::uint32_t {
  usual,
  idle,     ///< the program is not called: the step takes what a call takes around it
  touched,  ///< work on the device first, also where the step is held
};

/// What the worker is asked to do.
enum class worker_request : std::uint32_t {
  none = 0,
  /// payload: encode(compiled_module) of the trusted kernels (slot 0) or of the candidate (slot 1); for a
  /// hosted program the bytes of its object, which are empty for the trusted empty program
  load = 1,
  /// payload: encode(plan); `slot`, `offsets`, `alone`: makes one call ready (hosted: reads the plan alone)
  prepare = 2,
  /// Runs the graph that `join` has made, once. Behind barriers: each call waits until `admitted` speaks of
  /// it.
  run = 3,
  drop = 4,  ///< forgets every slot
  step =
      5,  ///< one call, and waits for it: of `slot`, or hosted at `offsets`, which nobody knows before.
          ///< Hosted and `blocked`: its work waits on the device until the word at the beginning of the
          ///< arena is the number of the request (`held_word`); `armed` says that all of it has been launched
  /// Makes one graph of the calls of slots 0 to `count` - 1, in order. `admitted`: with a barrier in front of
  /// each and behind the last, where inputs are unmasked.
  join = 6,
  /// Of a program in Python: reads bytes out of a block that its last call has named, and leaves them in
  /// `named_results::shown`. Only a process that can read the block can answer.
  show = 7,
  /// Programs in Python: a little work on the device, so that it is in the context of the worker afterwards.
  touch = 8,
};

enum class worker_state : std::uint32_t {
  starting = 0,
  ready = 1,     ///< a context is there, requests are served
  unusable = 2,  ///< no driver, no context, no arena: a fault of the machine; `message` says which
};

/// How a request ended, as the worker says.
enum class worker_status : std::uint32_t {
  ok = 0,
  refused = 1,  ///< the driver did not take module, plan or launch: `code`, `message`
  failed = 2,   ///< the work failed on the device: `code` is the sticky error of the context
};

/// What the process of a hosted program says of a request that was refused, instead of a driver's code.
inline constexpr std::int32_t raised_exception = -2;
inline constexpr std::int32_t wrong_result = -3;  ///< of another number, shape, type or device
inline constexpr std::int32_t not_loaded = -4;
inline constexpr std::int32_t no_device_memory = -5;  ///< the program found no memory on the device

/// Each side writes cache lines of its own. Requests are numbered from 1.
struct control_page {
  // Written by the trusted side before `go`.
  alignas(64) shared_word go;       ///< number of the request that may begin
  alignas(64) shared_word release;  ///< the timed run of this number may begin
  struct {
    worker_request kind;
    std::uint32_t slot;
    std::uint32_t count;
    std::uint32_t alone;  ///< 1: the call has a graph of its own, for steps
    std::uint32_t
        blocked;  ///< 1: calls wait behind a kernel until `release`; a step waits for the arena's word
    std::uint32_t behind_barriers;  ///< 1: calls wait one by one
    std::uint64_t payload_bytes;
    std::uint64_t block_limit_ns;  ///< after this the calls begin anyway
    std::uint64_t arena_bytes;
    std::array<std::uint64_t, most_buffers> offsets;       ///< of each buffer in the arena [bytes]
    std::array<std::uint64_t, most_buffers> masked_bytes;  ///< of each buffer that is masked; else 0
    std::uint32_t buffers;
    step_kind step;
  } request;
  /// The barrier of a run that may open: `barrier_word`. The key to the inputs of its call is there before.
  alignas(64) shared_word admitted;
  std::array<std::uint64_t, 2> key;
  // Written by the worker: claims.
  alignas(64) shared_word armed;  ///< number of the last run whose calls wait for `release`
  alignas(64) shared_word done;   ///< number of the last request that has ended
  alignas(64) shared_word ended;  ///< the last barrier of a run that was reached: `barrier_word`
  alignas(64) std::atomic<std::uint32_t> state;
  struct {
    worker_status status;
    std::int32_t code;        ///< CUresult
    std::uint32_t unblocked;  ///< 1: the blocking kernel gave up before `release`
    double event_ns;          ///< from before the first call to after the last, by events of the device
    std::array<float, most_slots> each_event_ns;  ///< of admitted calls, one by one
    char message[256];
  } answer;
  // Written by kevo. Last, because exploits in the tests know the places of the words before.
  alignas(64) shared_word begin;  ///< not 0: the worker may touch the device
};
static_assert(shared_word::is_always_lock_free);
static_assert(offsetof(control_page, done) == 1280);  // as the exploits have it

/// What the word at the beginning of the arena says when the held step of this number may begin.
constexpr std::uint32_t held_word(std::uint64_t number) {
  return static_cast<std::uint32_t>(number);
}
/// Behind its work, the worker's stream writes the same to the word at this place of the arena. [bytes]
inline constexpr std::uint64_t held_end = 64;
/// So many bytes at the beginning of an arena are not for buffers where steps are held.
inline constexpr std::uint64_t held_bytes = 4096;

/// A barrier of an admitted run: number 2 k stands in front of call k, number 2 k + 1 behind it. 0xffff: the
/// run failed.
constexpr std::uint64_t barrier_word(std::uint64_t run, std::uint64_t barrier) {
  return (run << 16U) | (barrier & 0xffffU);
}

inline constexpr std::size_t most_rank = 12;  ///< of a result that is judged where it lies
inline constexpr std::size_t shown_bytes = 16;

/// Where a program in Python says that a result lies: a claim in every word. The memory is named by what the
/// driver gives for an allocation, so that the trusted process can open it.
struct result_claim {
  std::array<unsigned char, 64> handle;  ///< CUipcMemHandle of the allocation
  std::uint64_t block;                   ///< the driver's number of the allocation: no two have the same
  std::uint64_t offset;                  ///< of the first element in the allocation [bytes]
  std::uint32_t rank;
  std::uint32_t unused;
  std::array<std::uint64_t, most_rank> extents;
  std::array<std::int64_t, most_rank> strides;  ///< [elements]
};
/// The results of one call. Written before `armed` and before `done`.
struct named_results {
  // Written by the trusted side, for `worker_request::show`:
  std::uint64_t asked_offset;  ///< from the beginning of the block [bytes]
  std::uint32_t asked_result;  ///< out of the block of this result
  // Written by the worker:
  shared_word request;  ///< of the step that they belong to
  std::uint32_t count;
  std::array<unsigned char, shown_bytes> shown;
  std::array<result_claim, most_buffers> results;
};

/// Where the named results lie in the region. [bytes]
inline constexpr std::size_t results_offset = 4096;
static_assert(sizeof(control_page) <= results_offset);
/// Where the payload begins in the region. [bytes]
inline constexpr std::size_t payload_offset = 28672;
static_assert(results_offset + sizeof(named_results) <= payload_offset);
/// Most bytes of a payload.
inline constexpr std::size_t most_payload = 64U << 20U;

}  // namespace kevo::cuda
