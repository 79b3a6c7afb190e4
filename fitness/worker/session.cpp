#include "fitness/worker/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/machine/preemptions.hpp"

namespace kevo {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t lines_per_call = 64;
constexpr std::size_t most_lines = lines_per_call + most_pointers;
// [bytes] of inputs and outputs together. Delivering so few takes some microseconds at most.
constexpr std::size_t most_delivered = 64U << 10U;
// [ns] How long a worker looks for the next of such calls before it sleeps: judging one takes less.
constexpr std::uint32_t look_ns = 150'000;
constexpr double long_beside_looking = 50;
// A processor that was idle is slow at first. A worker that was asleep has this time before the inputs of a
// delivered call are written.
constexpr auto warming = std::chrono::microseconds(40);
// A process that is not asleep so long after "done" does not mean to sleep, or has lost its processor.
constexpr auto most_unrest = std::chrono::milliseconds(2);
// [ns] A delivered call that takes longer begins and ends with a sleep, so that its time is in the accounts.
// What waking up costs is too much beside a shorter one, and neighbours seldom disturb that.
constexpr double short_call_ns = 100e3;
// [ns] A worker that looks for its next call answers within a microsecond.
constexpr double most_answering_ns = 5e3;
// [ns] Shorter waits for a processor belong to the call: a neighbour that takes the processor keeps it
// longer.
constexpr double least_lost_ns = 50e3;

// [ns] During a call of a shape that has never taken less than `shortest_slept_call_ns`, the controller
// sleeps at first, for this share of the shortest one, so that compilers and neighbours have its processor.
// The rest is long enough for it to be awake and warm at the end.
constexpr double shortest_slept_call_ns = 1e6;
constexpr double slept_share = 0.6;
// It does not in this share of such calls, so that a "done" before the work is done is seen at once in some.
constexpr double calls_without_sleep = 0.125;

// The trusted part of a worker says within microseconds that it is awake, later only where other programs
// keep it from its processor. One that does not for so long is in a candidate's code that does not end.
constexpr auto most_waking = std::chrono::seconds(2);

double nanoseconds_between(std::chrono::steady_clock::time_point from,
                           std::chrono::steady_clock::time_point to) {
  return static_cast<double>(std::chrono::duration_cast<nanoseconds>(to - from).count());
}

// Fetches the inputs into this processor's caches, so that delivering them takes no longer than it has to.
void touch(const call_content& content) {
  for (const auto& input : content.inputs) {
    for (std::size_t i = 0; i < input.size(); i += 64)
      static_cast<void>(*static_cast<const volatile std::byte*>(input.data() + i));
  }
}

}  // namespace

worker_session::worker_session(worker_settings settings, std::shared_ptr<worker_parent> parent,
                               lent_arena memory)
    : settings_(std::move(settings)), control_("kevo-control", 4096), arena_(std::move(memory)) {
  page_ = new (control_.data()) control_page{};
  const int arena = arena_.get().memory().descriptor();
  if (settings_.start) {
    process_ = settings_.start(settings_, control_.descriptor(), arena);
  } else {
    process_ = forked_worker(std::move(parent), control_.descriptor(), arena);
  }
}

std::string worker_session::remark() const {
  std::array<char, sizeof page_->message> text{};
  std::memcpy(text.data(), page_->message, text.size() - 1);
  std::string said = text.data();
  for (auto& c : said) c = c >= 32 && c < 127 ? c : ' ';
  return said;
}

worker_session::worker_session(const worker_settings& settings, const std::string& object,
                               std::size_t arena_bytes)
    : worker_session(settings, settings.start ? nullptr : std::make_shared<worker_parent>(settings, object),
                     lent_arena(arena_bytes)) {}

void worker_session::note_end() {
  if (report_) return;
  report_ = process_.wait();
  const std::uint32_t claim = page_->claim.load(std::memory_order_acquire);  // read once
  last_claim_ = claim <= static_cast<std::uint32_t>(worker_claim::wrong_result)
                    ? static_cast<worker_claim>(claim)
                    : worker_claim::starting;
  message_ = remark();
}

// Waits for a word that the worker writes. Whatever else it holds means nothing.
template <class Word>
call_end worker_session::wait_for(const std::atomic<Word>& word, Word value, clock::time_point deadline) {
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
  const auto end = start + nanoseconds(static_cast<std::int64_t>(slept_share * known_ns));
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

call_end worker_session::load() {
  const auto deadline = clock::now() + std::chrono::duration_cast<nanoseconds>(
                                           std::chrono::duration<double>(settings_.load_limit_s));
  for (;;) {
    const auto ended = process_.try_wait();
    const std::uint32_t claim = page_->claim.load(std::memory_order_acquire);  // read once
    if (claim == static_cast<std::uint32_t>(worker_claim::ready) && !ended) break;
    if (ended) {
      note_end();
      lock_down_failed_ = last_claim_ == worker_claim::lock_down_failed;
      return last_claim_ == worker_claim::load_failed || lock_down_failed_ ? call_end::load_failed
                                                                           : call_end::died;
    }
    if (const bool interrupted = settings_.stop.stop_requested(); interrupted || clock::now() > deadline) {
      process_.kill();
      return note_end(), interrupted ? call_end::interrupted : call_end::timed_out;
    }
    // Woken when it has something to say; one that does not wake the controller waits longer itself.
    constexpr timespec look_again = {0, 1'000'000};
    ::syscall(SYS_futex, &page_->claim, FUTEX_WAIT, claim, &look_again, nullptr, 0);
  }
  // What is on the page is a claim; the process has begun, or its parent would have said that it has ended.
  while (!process_.begun()) {
    if (process_.try_wait()) return note_end(), call_end::died;
    if (clock::now() > deadline) return process_.kill(), note_end(), call_end::timed_out;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  process_.loaded();
  freezer_.emplace(process_.worker_freezer());
  used_.emplace(process_.pid());
  if (!pause()) return call_end::stuck;
  used_ns_ = used_->used_ns();
  rested_ = true;
  return call_end::done;
}

// A trusted worker falls asleep within microseconds of "done"; it is given the time, so that stopping costs
// each call the same. One that goes on working instead does so at its own expense.
// What stopping costs is taken off, and one that stands still already has not paid for it: it has stopped
// itself, or its first thread has ended, which no honest program does.
bool worker_session::stop() {
  const auto from = clock::now();
  while (!used_->at_rest() && clock::now() - from < std::chrono::microseconds(20)) {
  }
  stood_still_ = !frozen_ && settings_.threads > 1 && used_->stands_still();
  frozen_ = true;
  if (!stood_still_ && freezer_->freeze_and_confirm()) return true;
  process_.kill();
  note_end();
  return false;
}

// Returns when the process sleeps, so that its accounts are exact. One that does not sleep soon is stopped;
// what it works meanwhile is in the time of this call, or of the next one.
bool worker_session::rest() {
  if (frozen_) return stop();
  const auto from = clock::now();
  while (!used_->at_rest()) {
    if (settings_.yield) ::sched_yield();
    if (clock::now() - from > most_unrest) return stop();
  }
  return true;
}

// While another program is timed, this one is not to run. What it works all the same, having woken up by
// itself, is told with its next call.
void worker_session::settle() {
  page_->look_ns.store(0, std::memory_order_relaxed);
  settled_ = true;
  if (report_ || rested_ || settings_.threads > 1 || !rest()) return;
  used_ns_ = used_->used_ns();
  rested_ = true;
}

void worker_session::ring() {
  ::syscall(SYS_futex, &page_->bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void worker_session::post(const call_content& content, const slot_layout& layout) {
  auto& call = page_->arguments;
  call.pointers = static_cast<std::uint32_t>(layout.offsets.size());
  std::copy(layout.offsets.begin(), layout.offsets.end(), call.offsets.begin());
  std::copy(content.axes.begin(), content.axes.end(), call.axes.begin());
  std::copy(content.scalars.begin(), content.scalars.end(), call.scalars.begin());
}

// Returns when the worker says that it is awake; at once where the controller sleeps during calls. With
// `begin`, the call may begin, too.
call_end worker_session::wake(bool begin, rng& random) {
  // Drawn: a process that does not run could have answered the next number beforehand.
  ping_ = random();
  page_->ping.store(ping_, std::memory_order_release);
  if (begin) page_->go.store(++call_number_, std::memory_order_release);
  page_->bell.fetch_add(1, std::memory_order_seq_cst);
  if (frozen_) {
    if (!freezer_->thaw()) return note_end(), call_end::died;
    frozen_ = false;
  }
  if (page_->asleep.load(std::memory_order_seq_cst) != 0) ring();
  if (sleeps()) return call_end::done;
  return wait_for(page_->pong, ping_, clock::now() + most_waking);
}

call_clock worker_session::clock_of(bool cold) const {
  if (settings_.threads > 1) return call_clock::stopped;
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
  auto call = clock_of(cold) == call_clock::delivered && !frozen_
                  ? run_delivered(content, random, limit)
                  : run_prepared(content, random, limit, cold);
  places_.reset();
  return call;
}

// The worker may look at its next call while it is prepared; so nothing of the inputs, scalars and addresses
// is there before the clock runs, and the outputs that are judged are copied when it has stopped.
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
  result.layout = memory().prepare(next_slot_, random, false, places_ ? &*places_ : nullptr);
  const auto secret = memory().draw_lines(result.layout, lines_per_call, random);
  std::array<std::byte, 64 * most_lines> seen;
  const double delayed_before = used_->delayed_ns();
  const long preemptions = preemptions_of_thread();
  const auto asked = clock::now();
  result.end = wake(false, random);
  if (result.end != call_end::done) return result;
  const auto awake = clock::now();
  while (asleep && clock::now() - awake < warming) spin_pause();
  const double delayed = used_->delayed_ns();
  touch(content);

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
  result.layout = memory().prepare(next_slot_, random, false, places_ ? &*places_ : nullptr);
  const auto secret = memory().draw_lines(result.layout, lines_per_call, random);
  std::array<std::byte, 64 * most_lines> seen;
  if (!rest()) return stuck();
  const double used_before = rested_ ? used_ns_ : used_->used_ns();
  const long rests = used_->rests();
  touch(content);
  const long preemptions = preemptions_of_thread();
  page_->look_ns.store(look_ns, std::memory_order_relaxed);
  result.end = wake(false, random);
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

// A worker that is awake may have fetched the outputs' lines, which would spare it that during the call.
// Answers whether the worker says that it sleeps.
bool worker_session::deliver(const call_content& content, const slot_layout& layout) {
  memory().poison_outputs(layout);
  memory().fill_inputs(layout, content.inputs);
  post(content, layout);
  page_->go.store(++call_number_, std::memory_order_release);
  page_->bell.fetch_add(1, std::memory_order_seq_cst);
  const bool asleep = page_->asleep.load(std::memory_order_seq_cst) != 0;
  if (asleep) ring();
  return asleep;
}

isolated_call worker_session::run_prepared(const call_content& content, rng& random, nanoseconds limit,
                                           bool cold) {
  isolated_call result;
  page_->look_ns.store(0, std::memory_order_relaxed);
  result.layout = memory().prepare(next_slot_, random, true, places_ ? &*places_ : nullptr);
  memory().fill_inputs(result.layout, content.inputs);
  post(content, result.layout);
  const auto secret = memory().draw_lines(result.layout, lines_per_call, random);
  std::array<std::byte, 64 * most_lines> seen;
  if (cold) memory().evict(result.layout);
  const double delayed = used_->delayed_ns();
  const long rests = used_->rests();
  const auto woken = clock::now();
  result.end = wake(true, random);
  if (result.end != call_end::done) return result;

  const auto start = clock::now();
  if (!sleeps() && !settings_.patient) sleep_during_call(content, places_ ? *places_ : random, start);
  result.end =
      sleeps() ? sleep_until_done(start + limit) : wait_for(page_->done, call_number_, start + limit);
  const auto end = clock::now();
  if (result.end != call_end::done) return result;
  memory().snapshot(secret,
                    seen.data());  // before anything else: what is not there yet was signalled too early
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
  result.early = !memory().same(secret, seen.data());
  result.damage = memory().inspect(result.layout, content.inputs);
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

void worker_session::keep_outputs(const slot_layout& layout) {
  const auto& buffers = memory().buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].output)
      kept_.insert(kept_.end(), memory().at(layout.offsets[i]),
                   memory().at(layout.offsets[i]) + buffers[i].bytes);
  }
}

std::span<const std::byte> worker_session::output(const slot_layout& layout, std::size_t index) const {
  const auto& buffers = memory().buffers();
  std::size_t before = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].output) continue;
    if (index-- == 0)
      return {kept_.empty() ? memory().at(layout.offsets[i]) : kept_.data() + before, buffers[i].bytes};
    before += buffers[i].bytes;
  }
  return {};
}

}  // namespace kevo
