#include "fitness/worker/session.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kevo {
namespace {

using std::chrono::nanoseconds;

// A process that is not asleep so long after "done" does not mean to sleep, or has lost its processor.
constexpr auto most_unrest = std::chrono::milliseconds(2);
// The trusted part of a worker says within microseconds that it is awake, later only where other programs
// keep it from its processor. One that does not for so long is in a candidate's code that does not end.
constexpr auto most_waking = std::chrono::seconds(2);

}  // namespace

worker_session::worker_session(worker_settings settings, std::shared_ptr<worker_parent> parent,
                               lent_arena memory)
    : settings_(std::move(settings)), control_("kevo-control", control_bytes), arena_(std::move(memory)) {
  page_ = new (control_.data()) control_page{};
  const int arena = arena_.get().memory().descriptor();
  if (settings_.start) {
    process_ = settings_.start(settings_, control_.descriptor(), arena);
  } else {
    process_ = forked_worker(std::move(parent), control_.descriptor(), arena);
  }
}

std::vector<buffer_shape> in_arena(const worker_settings& settings, std::vector<buffer_shape> buffers) {
  if (!settings.results) return buffers;
  std::size_t outputs = 0;
  std::size_t all = 0;
  for (const auto& one : buffers) {
    all += one.bytes;
    outputs += one.output ? one.bytes : 0;
  }
  if (outputs > most_copied || all > most_delivered)
    std::erase_if(buffers, [](const buffer_shape& one) { return one.output; });
  return buffers;
}

void worker_session::reshape(std::vector<buffer_shape> buffers, std::size_t most_slots) {
  const std::size_t count = buffers.size();
  auto inside = in_arena(settings_, std::move(buffers));
  results_.reset();
  if (inside.size() < count) results_.emplace(*settings_.results);
  memory().reshape(std::move(inside), most_slots);
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
  if (report_ || settings_.threads > 1) return;
  if (!rested_) {
    if (!rest()) return;
    used_ns_ = used_->used_ns();
    rested_ = true;
  }
  look_where_it_waits();
}

// Of a process that sleeps.
void worker_session::look_where_it_waits() {
  if (!settings_.chain || frozen_ || settings_.threads > 1) return;
  if (settings_.teaches_chain) {
    settings_.chain->learn(process_.pid());
  } else if (settings_.chain->is_elsewhere(process_.pid())) {
    elsewhere_ = true;
  }
}

void worker_session::ring() {
  ::syscall(SYS_futex, &page_->bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// Addresses and axes; of the contents nothing.
void worker_session::post_places(const call_content& content, const slot_layout& layout) {
  auto& call = page_->arguments;
  call.pointers = static_cast<std::uint32_t>(layout.offsets.size());
  std::copy(layout.offsets.begin(), layout.offsets.end(), call.offsets.begin());
  std::copy(content.axes.begin(), content.axes.end(), call.axes.begin());
}

void worker_session::post(const call_content& content, const slot_layout& layout) {
  post_places(content, layout);
  std::copy(content.scalars.begin(), content.scalars.end(), page_->arguments.scalars.begin());
}

// Returns when the worker says that it is awake, if it is asked; at once where the controller sleeps during
// calls.
call_end worker_session::wake(signal what, rng& random) {
  if (what != signal::go) {
    // Drawn: a process that does not run could have answered the next number beforehand.
    ping_ = random();
    page_->ping.store(ping_, std::memory_order_release);
  }
  if (what != signal::ping) page_->go.store(++call_number_, std::memory_order_release);
  page_->bell.fetch_add(1, std::memory_order_seq_cst);
  if (frozen_) {
    if (!freezer_->thaw()) return note_end(), call_end::died;
    frozen_ = false;
  }
  if (page_->asleep.load(std::memory_order_seq_cst) != 0) ring();
  if (sleeps() || what == signal::go) return call_end::done;
  return wait_for(page_->pong, ping_, clock::now() + most_waking);
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
  if (results_) return results_->output(index);
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

std::optional<std::size_t> worker_session::unwritten_word(const slot_layout& layout,
                                                          std::size_t index) const {
  if (results_) return std::nullopt;
  // Outputs begin at a line of the slot, and the pattern is that of a line.
  const auto bytes = output(layout, index);
  constexpr std::size_t word = sizeof layout.poison[0];
  for (std::size_t i = 0; (i + 1) * word <= bytes.size(); ++i) {
    if (std::memcmp(bytes.data() + i * word, &layout.poison[i % layout.poison.size()], word) == 0) return i;
  }
  return std::nullopt;
}

}  // namespace kevo
