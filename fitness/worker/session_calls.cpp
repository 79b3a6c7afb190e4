// The calls of a session by each of its clocks: what is there before a call begins, what of it is timed, and
// what the accounts of the kernel say.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "fitness/machine/preemptions.hpp"
#include "fitness/worker/session.hpp"

namespace kevo {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t lines_per_call = 64;
constexpr std::size_t most_lines = lines_per_call + most_pointers;
// [ns] How long a worker looks for the next of such calls before it sleeps: judging one takes less.
constexpr std::uint32_t look_ns = 150'000;
constexpr double long_beside_looking = 50;
// A processor that was idle is slow at first. A worker that was asleep has this time before the inputs of a
// delivered call are written.
constexpr auto warming = std::chrono::microseconds(40);
// [ns] A delivered call that takes longer begins and ends with a sleep, so that its time is in the accounts.
// What waking up costs is too much beside a shorter one, and neighbours seldom disturb that.
constexpr double short_call_ns = 100e3;
// [ns] A worker that looks for its next call answers within a microsecond.
constexpr double most_answering_ns = 5e3;
// [ns] Shorter waits for a processor belong to the call: a neighbour that takes the processor keeps it
// longer.
constexpr double least_lost_ns = 50e3;

double nanoseconds_between(std::chrono::steady_clock::time_point from,
                           std::chrono::steady_clock::time_point to) {
  return static_cast<double>(std::chrono::duration_cast<nanoseconds>(to - from).count());
}

}  // namespace

call_clock worker_session::clock_of(bool cold) const {
  if (settings_.threads > 1) return call_clock::stopped;
  if (results_) return call_clock::asleep;
  std::size_t bytes = 0;
  for (const auto& buffer : memory().buffers()) bytes += buffer.bytes;
  // Where both share a processor, a worker that looks for its next call would keep it from the controller.
  const bool deliver = bytes <= most_delivered && !cold && !settings_.yield && !settings_.patient;
  return deliver ? call_clock::delivered : call_clock::asleep;
}

isolated_call worker_session::run_isolated(const call_content& content, rng& random, nanoseconds limit,
                                           bool cold) {
  next_slot_ = (next_slot_ + 1) % memory().slots();
  kept_.clear();
  const bool delivered = clock_of(cold) == call_clock::delivered && !frozen_;
  auto call = delivered ? run_delivered(content, random, limit) : run_prepared(content, random, limit, cold);
  places_.reset();
  // Delivered calls follow each other without a rest; it is looked where their process waits when it settles.
  if (!delivered && call.end == call_end::done) look_where_it_waits();
  call.served_elsewhere = elsewhere_;
  return call;
}

// The worker may look at its next call while it is prepared; so nothing of the inputs, scalars and addresses
// is there before the clock runs, and the outputs that are judged are copied when it has stopped. What it
// sees of the inputs before the call begins may be a decoy.
isolated_call worker_session::run_delivered(const call_content& content, rng& random, nanoseconds limit) {
  const bool asleep = page_->asleep.load(std::memory_order_acquire) != 0;
  const bool told = std::exchange(settled_, false);
  if (from_rest_ || shortest_of(content).value_or(0) >= short_call_ns)
    return run_from_rest(content, random, limit);
  if (!asleep || told) return run_awake(content, random, limit, asleep, told);
  // It says that it sleeps although a call was to come, or the controller was late. What it does until it has
  // answered would be in no time otherwise.
  auto call = run_from_rest(content, random, limit);
  call.whole_ns += std::exchange(call.beside_ns, 0);
  call.disturbed = call.late = true;
  return call;
}

isolated_call worker_session::run_awake(const call_content& content, rng& random, nanoseconds limit,
                                        bool asleep, bool told) {
  isolated_call result;
  if (told && rested_) result.beside_ns = std::max(used_->used_ns() - used_ns_, 0.0);
  page_->look_ns.store(look_ns, std::memory_order_relaxed);
  const std::size_t slot_bytes = arena::slot_bytes(memory().buffers());
  page_->next_begin.store((next_slot_ + 1) % memory().slots() * slot_bytes, std::memory_order_relaxed);
  page_->next_bytes.store(slot_bytes, std::memory_order_relaxed);
  result.layout = memory().prepare(next_slot_, random, false, places_ ? &*places_ : nullptr);
  const auto secret = memory().draw_lines(result.layout, lines_per_call, random);
  std::array<std::byte, 64 * most_lines> seen;
  const double delayed_before = used_->delayed_ns();
  const long preemptions = preemptions_of_thread();
  prepare_delivery(content, result.layout, random);
  if (settings_.prepares) post_places(content, result.layout);
  const auto asked = clock::now();
  result.end = wake(signal::ping, random);
  if (result.end != call_end::done) return result;
  const auto awake = clock::now();
  while (asleep && clock::now() - awake < warming) spin_pause();
  const double delayed = used_->delayed_ns();
  delivery_.touch();

  const auto start = clock::now();
  deliver(content, result.layout);
  result.end = wait_for(page_->done, call_number_, start + limit);
  const auto end = clock::now();
  if (result.end != call_end::done) return result;
  memory().snapshot(secret, seen.data());
  keep_outputs(result.layout);
  const double lost = used_->delayed_ns() - delayed;
  // Read last: what the worker waited for a processor after "done", while the controller was kept from
  // reading on, is in `lost`, too.
  result.disturbed = preemptions_of_thread() != preemptions;
  const double wall = nanoseconds_between(start, end);
  result.ns = wall;
  rested_ = false;
  result.whole_ns = lost < least_lost_ns ? wall : std::max(wall - lost, 0.0);
  // A process that lost its processor before the clock ran is told later, so that the rest may be too short.
  if (lost < least_lost_ns || !shortest_of(content)) note_time(content, wall);
  // One that is awake answers at once, unless it works on something else.
  const double answering = nanoseconds_between(asked, awake) - (delayed - delayed_before);
  if (!asleep && answering > most_answering_ns) {
    result.whole_ns += answering;
    result.disturbed = result.late = true;  // it may have been about to sleep
  }
  result.early = !memory().same(secret, seen.data());
  result.damage = memory().inspect(result.layout, content.inputs);
  return result;
}

// The worker sleeps until it is asked whether it is awake, and its inputs come when it has answered: it does
// not wait for them, since work would not be told from waiting. What it worked since the call before was
// judged is in the time, or told beside it. The kernel brings the account of another process up to date when
// that leaves its processor.
isolated_call worker_session::run_from_rest(const call_content& content, rng& random, nanoseconds limit) {
  isolated_call result;
  const auto stuck = [&] {
    result.end = call_end::stuck;
    return result;
  };
  page_->look_ns.store(0, std::memory_order_relaxed);
  page_->next_bytes.store(0, std::memory_order_relaxed);
  result.layout = memory().prepare(next_slot_, random, false, places_ ? &*places_ : nullptr);
  const auto secret = memory().draw_lines(result.layout, lines_per_call, random);
  std::array<std::byte, 64 * most_lines> seen;
  prepare_delivery(content, result.layout, random);
  if (!rest()) return stuck();
  const double used_before = rested_ ? used_ns_ : used_->used_ns();
  const long rests = used_->rests();
  delivery_.touch();
  const long preemptions = preemptions_of_thread();
  page_->look_ns.store(look_ns, std::memory_order_relaxed);
  if (settings_.prepares) post_places(content, result.layout);
  result.end = wake(signal::ping, random);
  if (result.end != call_end::done) return result;
  const auto start = clock::now();
  const bool slept_again = deliver(content, result.layout);
  page_->look_ns.store(0, std::memory_order_relaxed);
  const double delayed = used_->delayed_ns();  // what it waited before it answered is not in real time
  sleep_during_call(content, places_ ? *places_ : random, start);
  result.end = wait_for(page_->done, call_number_, start + limit);
  const auto end = clock::now();
  if (result.end != call_end::done) return result;
  memory().snapshot(secret, seen.data());
  keep_outputs(result.layout);
  result.disturbed = preemptions_of_thread() != preemptions;
  const double lost = used_->delayed_ns() - delayed;
  result.ns = nanoseconds_between(start, end);
  const double wall = lost < least_lost_ns ? result.ns : std::max(result.ns - lost, 0.0);
  if (!rest()) return stuck();
  const double used = used_->used_ns();
  // Besides the sleep after the call, a stop, and the sleep of a worker that looked in vain for its inputs
  // because the controller had lost its processor. One that only says so may sleep once during the call, from
  // which it gains nothing: all that it works is counted.
  const bool waited = used_->rests() > rests + (frozen_ ? 2 : 1) + (slept_again ? 1 : 0);
  const double worked = used - used_before;
  // Processor time does not depend on when the controller looks, whereas real time does.
  result.whole_ns = waited ? std::max(worked, wall) : std::min(worked, wall);
  result.accounted = true;
  result.beside_ns = std::max(worked - result.whole_ns, 0.0);
  note_time(content, std::min(result.ns, result.whole_ns));
  used_ns_ = used;
  rested_ = true;
  // A controller that looked late, though it kept its processor, ran on one that was away for a while.
  result.disturbed |= !waited && wall > worked + least_lost_ns;
  // What the worker may have looked for a call longer than usual is little beside a long one.
  result.disturbed = result.disturbed && (waited || result.whole_ns < long_beside_looking * look_ns);
  // Where such calls are used all the same, nothing of what it worked may be missing.
  if (result.disturbed) result.whole_ns += std::exchange(result.beside_ns, 0);
  result.early = !memory().same(secret, seen.data());
  result.damage = memory().inspect(result.layout, content.inputs);
  return result;
}

// Alike for both programs of a pair, as far as places are.
void worker_session::prepare_delivery(const call_content& content, const slot_layout& layout, rng& random) {
  delivery_.prepare(memory(), layout, content.inputs, rng(places_ ? (*places_)() : random()));
}

// A worker that is awake may have fetched the outputs' lines, which would spare it that during the call.
// Answers whether the worker says that it sleeps.
bool worker_session::deliver(const call_content& content, const slot_layout& layout) {
  memory().poison_outputs(layout);
  delivery_.write_blocks();
  delivery_.write_last();
  post(content, layout);
  page_->go.store(++call_number_, std::memory_order_release);
  page_->bell.fetch_add(1, std::memory_order_seq_cst);
  const bool asleep = page_->asleep.load(std::memory_order_seq_cst) != 0;
  if (asleep) ring();
  return asleep;
}

// A worker that has tensors to make around the buffers makes them before the inputs are there, and sleeps
// again: what that takes is no part of the call, and is told beside it. False if the call has ended.
bool worker_session::prepare_worker(const call_content& content, rng& random, isolated_call& result) {
  post_places(content, result.layout);
  result.end = wake(signal::ping, random);
  if (result.end != call_end::done) return false;
  if (!rest()) {
    result.end = call_end::stuck;
    return false;
  }
  const double used = used_->used_ns();
  result.prepared_ns = used - used_ns_;
  used_ns_ = used;
  return true;
}

isolated_call worker_session::run_prepared(const call_content& content, rng& random, nanoseconds limit,
                                           bool cold) {
  isolated_call result;
  page_->look_ns.store(0, std::memory_order_relaxed);
  page_->next_bytes.store(0, std::memory_order_relaxed);
  result.layout = memory().prepare(next_slot_, random, true, places_ ? &*places_ : nullptr);
  const bool ready = settings_.prepares && settings_.threads == 1 && !settings_.patient;
  if (ready && !prepare_worker(content, random, result)) return result;
  memory().fill_inputs(result.layout, content.inputs);
  post(content, result.layout);
  secret_lines secret;
  std::vector<result_line> lines;
  if (results_) {
    results_->begin(content.axes);
    lines = results_->draw_lines(lines_per_call, random);
  } else {
    secret = memory().draw_lines(result.layout, lines_per_call, random);
  }
  std::array<std::byte, result_reader::line_bytes * most_lines> seen;
  if (cold) memory().evict(result.layout);
  const double delayed = used_->delayed_ns();
  const long rests = used_->rests();
  const auto woken = clock::now();
  result.end = wake(ready ? signal::go : signal::ping_and_go, random);
  if (result.end != call_end::done) return result;

  const auto start = clock::now();
  if (!sleeps() && !settings_.patient) sleep_during_call(content, places_ ? *places_ : random, start);
  result.end =
      sleeps() ? sleep_until_done(start + limit) : wait_for(page_->done, call_number_, start + limit);
  const auto end = clock::now();
  if (result.end != call_end::done) return result;
  // Before anything else: what is not there yet was signalled too early.
  if (results_) {
    const auto claim = page_->results;  // read once
    result.unreadable = !results_->locate(claim) || !results_->snapshot(process_.pid(), lines, seen.data());
  } else {
    memory().snapshot(secret, seen.data());
  }
  result.ns = nanoseconds_between(start, end);
  note_time(content, result.ns);

  if (!pause()) {
    result.end = call_end::stuck;
    return result;
  }
  const double wall = nanoseconds_between(woken, clock::now());
  const double lost = used_->delayed_ns() - delayed;
  if (settings_.threads > 1) result.threads = freezer_->threads();
  // One that has been joined may still be on its way out.
  for (int look = 0; look < 20 && result.threads > settings_.threads + 1; ++look) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    result.threads = freezer_->threads();
  }
  result.damage = memory().inspect(result.layout, content.inputs);
  if (results_) {
    // A result that shares pages with an input, under whatever address, would be no work of the program.
    memory().spoil_inputs(result.layout, random);
    result.unreadable = result.unreadable || !results_->read(process_.pid());
    result.early = !result.unreadable && !results_->same(lines, seen.data());
    // A process that ended behind "done" says why.
    if (result.unreadable && process_.try_wait()) {
      note_end();
      result.end = call_end::died;
      return result;
    }
  } else {
    result.early = !memory().same(secret, seen.data());
  }
  // Read last: a thread is marked as stopped a moment before it leaves its processor and the accounts are
  // closed.
  const bool waited =
      used_->rests() > rests + (frozen_ ? 2 : 1);  // besides the sleep after the call and a stop
  const double used = used_->used_ns();
  // Of several threads one may work while the first waits for a processor. One thread that waits during the
  // call may have worked before it, while the inputs arrived.
  result.whole_ns = settings_.threads > 1 ? wall
                    : waited              ? std::max(wall - lost, used - used_ns_)
                                          : used - used_ns_;
  used_ns_ = used;
  rested_ = true;
  return result;
}

}  // namespace kevo
