#pragma once
// What the workers on a device do alike: mapping what they are given, making a context, importing the arena,
// serving requests.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/worker/protocol.hpp"

namespace kevo::cuda {

struct region {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

inline region map_descriptor(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return {};
  return {static_cast<std::byte*>(data), size};
}

inline void say(control_page& page, const std::string& text) {
  std::strncpy(page.answer.message, text.c_str(), sizeof page.answer.message - 1);
}

[[noreturn]] inline void give_up(control_page& page, const std::string& why) {
  say(page, why);
  page.state.store(static_cast<std::uint32_t>(worker_state::unusable), std::memory_order_release);
  ::_exit(3);
}

/// The context of a worker, with the arena in it.
struct worker_context {
  context current = nullptr;
  address arena = 0;
  std::size_t arena_bytes = 0;
  cuda::stream stream = nullptr;
};

inline driver_failure open_context(const driver& d, const char* id, std::size_t arena_bytes,
                                   worker_context& made) {
  device_index device = 0;
  if (!find_device(d, id, device)) return {error_invalid_value, "finding the device"};
  if (const auto code = d.primary_retain(&made.current, device)) return {code, "making a context"};
  if (const auto code = d.context_set(made.current)) return {code, "entering the context"};
  allocation memory = 0;
  if (const auto code = d.import_handle(
          &memory, reinterpret_cast<void*>(static_cast<std::uintptr_t>(arena_descriptor)), handle_posix_fd))
    return {code, "importing the arena"};
  if (const auto code = d.reserve(&made.arena, arena_bytes, 0, 0, 0)) return {code, "reserving addresses"};
  if (const auto code = d.map(made.arena, arena_bytes, 0, memory, 0)) return {code, "mapping the arena"};
  const access_description access{{location_device, device}, access_read_write};
  if (const auto code = d.set_access(made.arena, arena_bytes, &access, 1)) return {code, "opening the arena"};
  made.arena_bytes = arena_bytes;
  if (const auto code = d.stream_create(&made.stream, stream_non_blocking)) return {code, "making a stream"};
  d.context_set_limit(static_cast<int>(limit::persisting_l2), 0);
  return {};
}

/// Waits until a stream is empty, on the processor: a sleeping thread would be in the time.
inline driver_code drained(const driver& d, cuda::stream on) {
  for (;;) {
    const auto code = d.stream_query(on);
    if (code != error_not_ready) return code;
    spin_pause();
  }
}

/// The code of a failure that is not one of the driver's.
inline constexpr driver_code not_the_driver = -1;

/// How a request ended. A failure without words came from the device itself while it worked.
struct request_end {
  driver_failure failure;
  bool runs = false;  ///< the request was to run something
};

/// Serves requests for ever. `answer(kind, number)` carries one out.
template <class Answer>
[[noreturn]] void serve(const driver& d, control_page& page, const Answer& answer) {
  auto quiet_since = std::chrono::steady_clock::now();
  for (std::uint64_t next = 1;;) {
    if (page.go.load(std::memory_order_acquire) != next) {
      const auto quiet = std::chrono::steady_clock::now() - quiet_since;
      if (quiet > std::chrono::milliseconds(5)) {  // one that waits for its turn takes no processor
        const bool long_quiet = quiet > std::chrono::milliseconds(200);
        std::this_thread::sleep_for(std::chrono::microseconds(long_quiet ? 1000 : 50));
      } else {
        spin_pause();
      }
      continue;
    }
    request_end end;
    try {
      end = answer(page.request.kind, next);
    } catch (const std::exception& problem) {
      end.failure = {error_invalid_value, problem.what()};
    }
    const auto& failure = end.failure;
    page.answer.code = failure.code;
    page.answer.status = !failure                           ? worker_status::ok
                         : end.runs && failure.what.empty() ? worker_status::failed
                         : failure.code >= error_illegal_address && failure.code < 800 &&
                                 failure.code != error_launch_out_of_resources
                             ? worker_status::failed
                             : worker_status::refused;
    if (failure.code == not_the_driver) {
      say(page, failure.what);
    } else if (failure) {
      say(page, (failure.what.empty() ? "" : failure.what + ": ") + text_of(d, failure.code));
    }
    page.done.store(next++, std::memory_order_release);
    quiet_since = std::chrono::steady_clock::now();
  }
}

}  // namespace kevo::cuda
