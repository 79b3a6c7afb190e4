// How a session waits for its worker.

#include <algorithm>
#include <chrono>
#include <ctime>
#include <linux/futex.h>
#include <optional>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "fitness/worker/session.hpp"

namespace kevo {
namespace {

// [ns] During a call of a shape that has never taken less than `shortest_slept_call_ns`, the controller
// sleeps at first, for this share of the shortest one, so that compilers and neighbours have its processor.
// The rest is long enough for it to be awake and warm at the end.
constexpr double shortest_slept_call_ns = 1e6;
constexpr double slept_share = 0.6;
// It does not in this share of such calls, so that a "done" before the work is done is seen at once in some.
constexpr double calls_without_sleep = 0.125;

}  // namespace

// Waits for a word that the worker writes. Whatever else it holds means nothing.
call_end worker_session::wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t value,
                                  clock::time_point deadline) {
  // A yield takes as long as the others on this processor run. Thousands of them, after which a wait that
  // does not yield looks for the end of the process, took half a minute on a busy machine.
  constexpr auto between_looks = std::chrono::milliseconds(1);
  auto looked = settings_.yield ? clock::now() : clock::time_point();
  for (unsigned spins = 0;; ++spins) {
    if (word.load(std::memory_order_acquire) == value) return call_end::done;
    const bool naps = settings_.patient && spins > 2000;
    if (naps) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else if (settings_.yield) {
      ::sched_yield();
    } else {
      spin_pause();
    }
    if (settings_.yield && !naps) {
      if (clock::now() - looked < between_looks) continue;
      looked = clock::now();
    } else {
      const unsigned every = naps ? 8 : 4096;
      if (spins % every != every - 1) continue;
    }
    if (page_->asleep.load(std::memory_order_relaxed) != 0) ring();
    if (process_.try_wait()) {
      if (word.load(std::memory_order_acquire) == value) return call_end::done;
      return note_end(), call_end::died;
    }
    if (const bool interrupted = settings_.stop.stop_requested(); interrupted || clock::now() > deadline) {
      process_.kill();
      return note_end(), interrupted ? call_end::interrupted : call_end::timed_out;
    }
  }
}

// Sleeps for a part of what such a call takes at least. What the worker does meanwhile is in its accounts.
// Where controller and worker are threads of one core, a call is slower beside a controller that looks: calls
// that are compared with each other draw the same.
void worker_session::sleep_during_call(const call_content& content, rng& random, clock::time_point start) {
  const bool awake = random.uniform() < calls_without_sleep;
  const double known_ns = shortest_of(content).value_or(0);
  if (awake || known_ns < shortest_slept_call_ns) return;
  const auto end = start + std::chrono::nanoseconds(static_cast<std::int64_t>(slept_share * known_ns));
  constexpr auto look_again = std::chrono::milliseconds(5);
  for (auto now = start; now < end && !settings_.stop.stop_requested() && !process_.try_wait();
       now = clock::now())
    std::this_thread::sleep_until(std::min<clock::time_point>(end, now + look_again));
}

// The shortest call of these sizes so far. [ns]
std::optional<double> worker_session::shortest_of(const call_content& content) const {
  const auto known = shortest_ns_.find({content.axes.begin(), content.axes.end()});
  return known == shortest_ns_.end() ? std::nullopt : std::optional(known->second);
}

void worker_session::note_time(const call_content& content, double ns) {
  const auto [known, first] = shortest_ns_.try_emplace({content.axes.begin(), content.axes.end()}, ns);
  known->second = std::min(known->second, ns);
}

// The same for `done`, without taking processor time from a worker whose threads need every processor. A
// worker wakes the controller when a call has ended; one that does not is charged what the controller sleeps
// longer.
call_end worker_session::sleep_until_done(clock::time_point deadline) {
  constexpr timespec look_again = {0, 1'000'000};
  for (;;) {
    const std::uint64_t value = page_->done.load(std::memory_order_acquire);
    if (value == call_number_) return call_end::done;
    if (process_.try_wait()) {
      if (page_->done.load(std::memory_order_acquire) == call_number_) return call_end::done;
      return note_end(), call_end::died;
    }
    if (const bool interrupted = settings_.stop.stop_requested(); interrupted || clock::now() > deadline) {
      process_.kill();
      return note_end(), interrupted ? call_end::interrupted : call_end::timed_out;
    }
    ::syscall(SYS_futex, &page_->done, FUTEX_WAIT, static_cast<std::uint32_t>(value), &look_again, nullptr,
              0);
  }
}

}  // namespace kevo
