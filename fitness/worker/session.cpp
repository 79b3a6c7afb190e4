#include "fitness/worker/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sched.h>
#include <thread>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/process/own_program.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t lines_per_call = 64;
constexpr std::size_t most_lines = lines_per_call + most_pointers;
constexpr const char* object_inside = "/kevo/candidate.so";
constexpr const char* worker_inside = "/kevo/kevo-worker-cpu";

double nanoseconds_between(std::chrono::steady_clock::time_point from,
                           std::chrono::steady_clock::time_point to) {
  return static_cast<double>(std::chrono::duration_cast<nanoseconds>(to - from).count());
}

launch_spec spec_of(const worker_settings& settings, const std::string& object, int control, int arena) {
  launch_spec spec;
  spec.argv = {worker_inside, object_inside, std::to_string(settings.threads)};
  if (settings.error_output) spec.argv.emplace_back(error_output_argument);
  spec.environment = {"PATH=/nonexistent", "LC_ALL=C"};
  spec.mounts = runtime_mounts({"libc.so.6", "libm.so.6", "libmvec.so.1", "libstdc++.so.6", "libgcc_s.so.1"});
  if (!settings.libraries.empty()) {
    for (auto& extra : runtime_mounts(settings.libraries)) {
      const bool known = std::any_of(spec.mounts.begin(), spec.mounts.end(),
                                     [&](const mount& m) { return m.inside == extra.inside; });
      if (!known) spec.mounts.push_back(std::move(extra));
    }
  }
  spec.mounts.push_back(
      {settings.program.empty() ? own_program("kevo-worker-cpu", "KEVO_WORKER_CPU") : settings.program,
       worker_inside});
  spec.mounts.push_back({object, object_inside});
  spec.file_descriptors = {{control, control_descriptor}, {arena, arena_descriptor}};
  spec.limits = settings.limits;
  spec.limits.scratch_bytes = 0;
  spec.sandbox = settings.sandbox;
  spec.policy = syscall_policy::worker;
  spec.cpus = settings.cpus;
  return spec;
}

}  // namespace

worker_session::worker_session(worker_settings settings, const std::string& object, std::size_t arena_bytes)
    : settings_(std::move(settings)), control_("kevo-control", 4096), arena_(arena_bytes) {
  page_ = new (control_.data()) control_page{};
  process_ = launch(spec_of(settings_, object, control_.descriptor(), arena_.memory().descriptor()));
}

void worker_session::note_end() {
  if (!report_) report_ = process_.wait();
}

// Waits for a word that the worker writes. Whatever else it holds means nothing.
template <class Word>
call_end worker_session::wait_for(const std::atomic<Word>& word, Word value, clock::time_point deadline) {
  for (unsigned spins = 0;; ++spins) {
    if (word.load(std::memory_order_acquire) == value) return call_end::done;
    if (settings_.patient && spins > 2000) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else if (settings_.yield) {
      ::sched_yield();
    } else {
      spin_pause();
    }
    const unsigned every = settings_.patient && spins > 2000 ? 8 : 4096;
    if (spins % every != every - 1) continue;
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

call_end worker_session::load() {
  const auto deadline = clock::now() + std::chrono::duration_cast<nanoseconds>(
                                           std::chrono::duration<double>(settings_.load_limit_s));
  for (;;) {
    const auto ended = process_.try_wait();
    const std::uint32_t claim = page_->claim.load(std::memory_order_acquire);  // read once
    if (claim == static_cast<std::uint32_t>(worker_claim::ready) && !ended) break;
    if (ended) {
      note_end();
      std::array<char, sizeof page_->message> text{};
      std::memcpy(text.data(), page_->message, text.size() - 1);
      message_ = text.data();
      for (auto& c : message_) c = c >= 32 && c < 127 ? c : ' ';
      lock_down_failed_ = claim == static_cast<std::uint32_t>(worker_claim::lock_down_failed);
      return claim == static_cast<std::uint32_t>(worker_claim::load_failed) || lock_down_failed_
                 ? call_end::load_failed
                 : call_end::died;
    }
    if (const bool interrupted = settings_.stop.stop_requested(); interrupted || clock::now() > deadline) {
      process_.kill();
      return note_end(), interrupted ? call_end::interrupted : call_end::timed_out;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  freezer_.emplace(process_.inner_freezer());
  used_.emplace(process_.inner_pid());
  if (!stop()) return call_end::stuck;
  return call_end::done;
}

// A trusted worker falls asleep within microseconds of "done"; it is given the time, so that stopping costs
// each call the same. One that goes on working instead does so at its own expense.
bool worker_session::stop() {
  const auto from = clock::now();
  while (!used_->at_rest() && clock::now() - from < std::chrono::microseconds(20)) {
  }
  if (freezer_->freeze_and_confirm()) return true;
  process_.kill();
  note_end();
  return false;
}

void worker_session::post(const call_content& content, const slot_layout& layout) {
  auto& call = page_->arguments;
  call.pointers = static_cast<std::uint32_t>(layout.offsets.size());
  std::copy(layout.offsets.begin(), layout.offsets.end(), call.offsets.begin());
  std::copy(content.axes.begin(), content.axes.end(), call.axes.begin());
  std::copy(content.scalars.begin(), content.scalars.end(), call.scalars.begin());
}

// Lets the worker run and returns when it says that it is awake, so that waking up is not in the time.
call_end worker_session::wake() {
  page_->ping.store(++ping_, std::memory_order_release);
  page_->go.store(++call_number_, std::memory_order_release);
  if (!freezer_->thaw()) return note_end(), call_end::died;
  return wait_for(page_->pong, ping_, clock::now() + std::chrono::seconds(5));
}

isolated_call worker_session::run_isolated(const call_content& content, rng& random, nanoseconds limit,
                                           bool cold) {
  isolated_call result;
  next_slot_ = (next_slot_ + 1) % arena_.slots();
  result.layout = arena_.prepare(next_slot_, random);
  arena_.fill_inputs(result.layout, content.inputs);
  post(content, result.layout);
  const auto secret = arena_.draw_lines(result.layout, lines_per_call, random);
  std::array<std::byte, 64 * most_lines> seen;
  if (cold) arena_.evict(result.layout);
  const double used_before = used_->used_ns();
  const long rests_before = used_->rests();
  const auto woken = clock::now();
  result.end = wake();
  if (result.end != call_end::done) return result;

  const auto start = clock::now();
  result.end = wait_for(page_->done, call_number_, start + limit);
  const auto end = clock::now();
  if (result.end != call_end::done) return result;
  arena_.snapshot(secret,
                  seen.data());  // before anything else: what is not there yet was signalled too early
  result.ns = nanoseconds_between(start, end);

  if (!stop()) {
    result.end = call_end::stuck;
    return result;
  }
  const double between_stops = nanoseconds_between(woken, clock::now());
  result.early = !arena_.same(secret, seen.data());
  result.damage = arena_.inspect(result.layout, content.inputs);
  // Read last: a thread is marked as stopped a moment before it leaves its processor and the books are
  // closed.
  const bool slept = used_->rests() > rests_before + 2;  // besides the sleep after the call and the stop
  const double used_after = used_->used_ns();
  const bool in_books = settings_.threads == 1 && !slept && used_after >= 0;
  result.whole_ns = in_books ? used_after - used_before : between_stops;
  return result;
}

std::span<const std::byte> worker_session::output(const slot_layout& layout, std::size_t index) const {
  const auto& buffers = arena_.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].output) continue;
    if (index-- == 0) return {arena_.at(layout.offsets[i]), buffers[i].bytes};
  }
  return {};
}

}  // namespace kevo
