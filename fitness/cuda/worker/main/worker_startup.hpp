#pragma once
// How the workers on a device begin: the region that they share, the driver, a context with the arena in it.
// What is wrong with the machine they say in the region, and end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"

namespace kevo::cuda {

/// What a worker shares with the trusted process, as long as it lives. A view.
struct shared_region {
  std::byte* data = nullptr;  ///< null: it is not mapped

  control_page& page() const { return *reinterpret_cast<control_page*>(data); }
  /// What the request at hand brings.
  std::string_view payload() const {
    return {reinterpret_cast<const char*>(data + payload_offset),
            std::min<std::size_t>(page().request.payload_bytes, most_payload)};
  }
};

/// Maps the region and closes its descriptor. @param program who says on stderr that it cannot be mapped
inline shared_region map_shared_region(const char* program) {
  struct stat status {};
  void* data = MAP_FAILED;
  if (::fstat(control_descriptor, &status) == 0 && status.st_size > static_cast<off_t>(payload_offset)) {
    data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED,
                  control_descriptor, 0);
  }
  if (data == MAP_FAILED) {
    std::fprintf(stderr, "%s: the shared region cannot be mapped\n", program);
    return {};
  }
  ::close(control_descriptor);
  return {static_cast<std::byte*>(data)};
}

/// Leaves words beside the answer; cut to what fits.
inline void say(control_page& page, const std::string& text) {
  std::strncpy(page.answer.message, text.c_str(), sizeof page.answer.message - 1);
}

/// Ends the process, for a fault of the machine.
[[noreturn]] inline void give_up(control_page& page, const std::string& why) {
  say(page, why);
  page.state.store(static_cast<std::uint32_t>(worker_state::unusable), std::memory_order_release);
  ::_exit(3);
}

/// Rests until kevo says that the worker may touch the device. The driver's library is loaded before, which
/// takes some milliseconds and touches nothing.
inline void rest_until_begin(const control_page& page) {
  preload_driver();
  await_asleep(page.begin);
}

/// The driver, which loads modules "EAGER" or "LAZY". Ends the process where there is none.
inline const driver& require_driver(control_page& page, const char* loading) {
  ::setenv("CUDA_MODULE_LOADING", loading, 1);
  const auto& loaded = load_driver();
  if (loaded.functions == nullptr) give_up(page, loaded.missing);
  return *loaded.functions;
}

/// The context of a worker, with the arena in it.
struct worker_context {
  device_index device = 0;
  context current = nullptr;
  address arena = 0;
  std::size_t arena_bytes = 0;
  cuda::stream stream = nullptr;
};

/// Makes the context of a device and maps the arena in it.
inline driver_failure open_context(const driver& d, const char* id, std::size_t arena_bytes,
                                   worker_context& made) {
  device_index device = 0;
  if (!find_device(d, id, device)) return {error_invalid_value, "finding the device"};
  made.device = device;
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

/// Says that requests are served from now on, or, if the start has failed, why not, and ends the process.
inline void say_ready(const driver& d, control_page& page, const driver_failure& start) {
  if (start) give_up(page, start.what + ": " + text_of(d, start.code));
  ::close(arena_descriptor);
  page.state.store(static_cast<std::uint32_t>(worker_state::ready), std::memory_order_release);
}

}  // namespace kevo::cuda
