#pragma once
// How the workers on a device serve requests.

#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/cuda/worker/main/worker_startup.hpp"

namespace kevo::cuda {

/// Waits until a stream is empty, on the processor: a sleeping thread would be in the time.
inline driver_code drained(const driver& d, cuda::stream on) {
  for (;;) {
    const auto code = d.stream_query(on);
    if (code != error_not_ready) return code;
    spin_pause();
  }
}

/// The code of a failure that is not one of the driver's, as are all below 0.
inline constexpr driver_code not_the_driver = -1;

/// How a request ended. A failure without words came from the device itself while it worked.
struct request_end {
  driver_failure failure;
  bool runs = false;  ///< the request was to run something
};

/// Serves requests for ever. `answer(kind, number)` carries one out.
template <class Answer>
[[noreturn]] void serve(const driver& d, control_page& page, const Answer& answer) {
  using std::chrono::microseconds;
  // One that waits for its turn takes no processor.
  const auto awake = microseconds(5000);
  auto quiet_since = std::chrono::steady_clock::now();
  for (std::uint64_t next = 1;;) {
    if (few_processors()) await_value(page.go, next);
    if (page.go.load(std::memory_order_acquire) != next) {
      const auto quiet = std::chrono::steady_clock::now() - quiet_since;
      if (quiet > awake) {
        const bool long_quiet = quiet > std::chrono::milliseconds(200);
        std::this_thread::sleep_for(microseconds(long_quiet ? 1000 : 50));
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
    if (failure.code < 0) {
      say(page, failure.what);
    } else if (failure) {
      say(page, (failure.what.empty() ? "" : failure.what + ": ") + text_of(d, failure.code));
    }
    publish(page.done, next++);
    quiet_since = std::chrono::steady_clock::now();
  }
}

}  // namespace kevo::cuda
