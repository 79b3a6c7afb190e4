#pragma once
// What controller and worker share: one control page and one arena of input and output buffers. The worker's
// side of it is written by whatever code the candidate brings, so every value read from it is a claim: read
// once, then validate.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kevo {

inline constexpr std::uint32_t worker_protocol = 4;

/// The socket over which the parent of workers is asked for one: a message with its number (32 bits) and two
/// descriptors, of the control page and of the arena. Never open in a worker that has loaded an object.
inline constexpr int fork_request_descriptor = 3;

/// What is said over that socket, one message each. A worker says that it has begun before it does anything
/// else, so that the kernel tells its process id; its parent says how it ended, and buries it when it is
/// asked for the next one: until then its process id is nobody else's.
struct parent_message {
  enum class kind_of : std::uint32_t { begun = 1, ended = 2, failed = 3 };
  kind_of kind;
  std::uint32_t worker;    ///< which one, counted from 1
  std::int32_t signalled;  ///< of `ended`: 1 if by a signal
  std::int32_t status;     ///< exit code or signal; of `failed`, the error number
};

inline constexpr std::size_t most_pointers = 48;
inline constexpr std::size_t most_axes = 32;
inline constexpr std::size_t most_scalars = 32;
/// Of what a worker says about results in memory of its own: for each its address and its strides.
inline constexpr std::size_t most_result_words = 384;

/// What the worker says of itself.
enum class worker_claim : std::uint32_t {
  starting = 0,
  ready = 1,
  lock_down_failed = 2,
  load_failed = 3,
  call_failed = 4,   ///< the call raised an exception (Python); the process ends
  wrong_result = 5,  ///< what the call returned is not of the task's number, shape or type; the process ends
};

/// Arguments of one call; written by the controller before `go`, and for a worker that makes what the call
/// needs before (`worker_settings::prepares`) before `ping`, without scalars.
struct call_arguments {
  std::array<std::uint64_t, most_pointers> offsets;  ///< of each buffer in the arena [bytes]
  std::array<std::int64_t, most_axes> axes;
  std::array<std::uint64_t, most_scalars> scalars;  ///< the value's bytes, first byte first
  std::uint32_t pointers;
};

/// Each side writes cache lines of its own. Call numbers begin with 1. A worker answers every new `ping` and
/// begins the call of every new `go`. One with `worker_settings::prepares` makes what the next call needs
/// before it answers. It waits for them by looking for a while, and then sleeps in a futex on
/// `bell`, which the controller counts up whenever it has written one of the two.
struct control_page {
  // Written by the controller.
  alignas(64) std::atomic<std::uint64_t> ping;  ///< "are you there?"
  alignas(64) std::atomic<std::uint64_t> go;    ///< number of the call that may begin
  std::atomic<std::uint32_t> bell;              ///< changes with each of the two
  std::atomic<std::uint32_t> look_ns;  ///< [ns] how long a worker looks for the next word before it sleeps
  /// Where in the arena the buffers of the call after this one will lie. A worker reads a word of each page
  /// there after a call: it would take part of a short call until its processor knows their addresses.
  /// [bytes]
  std::atomic<std::uint64_t> next_begin;
  std::atomic<std::uint64_t> next_bytes;
  alignas(64) call_arguments arguments;
  // Written by the worker: claims.
  alignas(64) std::atomic<std::uint64_t> pong;  ///< the last ping seen: it is awake and begins
  alignas(64) std::atomic<std::uint64_t> done;  ///< number of the last call that has ended
  std::atomic<std::uint32_t> asleep;            ///< it sleeps, or is about to: `bell` has to be rung
  alignas(64) std::atomic<std::uint32_t> claim;
  char message[1020];                          ///< why it could not load
  std::atomic<std::uint32_t> refused_threads;  ///< 1: it asked for a thread beyond those that it may have
  /// Where results lie that are in its own memory: for each its address, and its strides in elements. Last,
  /// because exploits in the tests know the places of the words before.
  alignas(64) std::array<std::int64_t, most_result_words> results;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);
/// [bytes] Of the memory that holds it.
inline constexpr std::size_t control_bytes = 8192;
static_assert(sizeof(control_page) <= control_bytes);

/// The one function that the worker calls in a candidate's object: the trusted entry, where the header of the
/// ELF file says.
using entry_function = void (*)(void* const* pointers, const std::int64_t* axes,
                                const std::uint64_t* scalars);
/// Fourth argument of a worker whose object is trusted and may write to standard error.
inline constexpr const char* error_output_argument = "error-output";

/// Spinning, in a way that is kind to the other thread of the core.
inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The heap of a process of PyTorch begins with so many unused bytes, in pages that are there.
inline constexpr std::size_t spare_heap_bytes(std::size_t arena_bytes) {
  constexpr std::size_t least = std::size_t{16} << 20U;
  constexpr std::size_t most = std::size_t{1} << 30U;
  return least + arena_bytes < most ? least + arena_bytes : most;
}

}  // namespace kevo
