#include "fitness/cuda/device/worker_link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>

#include <kevo/error.hpp>

namespace kevo::cuda {

namespace {

// More than the yields of a timed wait take on a quiet processor.
constexpr auto longest_yielding = std::chrono::milliseconds(10);
constexpr unsigned yields_between_looks = 32;

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 1000)) {
    if (c == 0) break;
    result += c >= ' ' && c < 0x7f ? c : '?';
  }
  return result;
}

worker_link::worker_link(detail::descriptor region, detail::descriptor process)
    : process_(std::move(process)) {
  struct stat status {};
  if (::fstat(region.get(), &status) != 0 || status.st_size <= static_cast<off_t>(payload_offset))
    throw error(error_code::environment, "the shared region of a worker is too small");
  size_ = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, region.get(), 0);
  if (data == MAP_FAILED)
    throw error(error_code::environment,
                std::string("cannot map a worker's region: ") + std::strerror(errno));
  data_ = static_cast<std::byte*>(data);
  page_ = reinterpret_cast<control_page*>(data_);
  named_ = reinterpret_cast<named_results*>(data_ + results_offset);
}

worker_link::~worker_link() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

bool worker_link::alive() const {
  if (!process_) return true;
  pollfd poll = {process_.get(), POLLIN, 0};
  return ::poll(&poll, 1, 0) == 0;
}

worker_answer worker_link::end_with(call_end end) {
  usable_ = false;
  last_ = {end, 0, ""};
  return last_;
}

call_end worker_link::wait_for(const shared_word& word, std::uint64_t value, clock::time_point deadline,
                               wait_is is) {
  return wait_until(
      word, [&] { return word.load(std::memory_order_acquire) == value; }, deadline, is);
}

// Spins at first, because whoever waits here measures; a wait that has lasted long is continued in short
// naps, with one look in between, so that it does not keep a processor busy. Where processors are few it
// sleeps on `word`, which changes before `reached` does. Looks after the process now and then. On a processor
// that many want, one yield may take milliseconds, so yields are limited by time, too.
template <class Reached>
call_end worker_link::wait_until(const shared_word& word, const Reached& reached, clock::time_point deadline,
                                 wait_is is) {
  const auto start = clock::now();
  const unsigned spins = !few_processors()      ? 2000
                         : is == wait_is::timed ? yields_while_timed
                                                : yields_before_sleep;
  bool naps = false;
  for (;;) {
    for (unsigned i = 0; i < (naps ? 1 : spins); ++i) {
      if (reached()) return call_end::done;
      spin_pause();
      if (few_processors() && i % yields_between_looks == 0 && clock::now() - start > longest_yielding) break;
    }
    const auto now = clock::now();
    if (now > deadline) return alive() ? call_end::timed_out : reached() ? call_end::done : call_end::died;
    if (!few_processors() && now - start < std::chrono::milliseconds(1)) continue;
    if (!alive()) return reached() ? call_end::done : call_end::died;
    naps = few_processors() || now - start > std::chrono::milliseconds(50);
    if (!naps) continue;
    const auto seen = word.load(std::memory_order_acquire);
    if (reached()) return call_end::done;
    few_processors() ? sleep_on(word, seen, std::chrono::milliseconds(1))
                     : std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

worker_answer worker_link::wait_ready(std::chrono::nanoseconds limit) {
  const auto deadline = clock::now() + limit;
  for (;;) {
    const auto state = static_cast<worker_state>(page_->state.load(std::memory_order_acquire));
    if (state == worker_state::ready) return {};
    if (state == worker_state::unusable) {
      usable_ = false;
      page_->answer.message[sizeof page_->answer.message - 1] = 0;
      last_ = {call_end::refused, 0, printable(page_->answer.message)};
      return last_;
    }
    if (!alive()) return end_with(call_end::died);
    if (clock::now() > deadline) return end_with(call_end::timed_out);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::uint64_t worker_link::post(worker_request kind, std::string_view payload) {
  auto& request = page_->request;
  request.kind = kind;
  request.payload_bytes = payload.size();
  if (payload.size() > size_ - payload_offset)
    throw error(error_code::internal, "a request to a worker is too large for its region");
  payload.copy(reinterpret_cast<char*>(data_ + payload_offset), payload.size());  // memcpy takes no null
  publish(page_->go, ++number_);
  return number_;
}

worker_answer worker_link::finish(std::uint64_t number, clock::time_point deadline, wait_is is) {
  const auto end = wait_for(page_->done, number, deadline, is);
  if (end != call_end::done) return end_with(end);
  char message[sizeof page_->answer.message];
  std::memcpy(message, page_->answer.message, sizeof message);
  const auto status = page_->answer.status;
  const auto code = page_->answer.code;
  if (status == worker_status::ok) return {};
  last_ = {status == worker_status::failed ? call_end::failed : call_end::refused, code,
           printable({message, sizeof message})};
  if (last_.end == call_end::failed) usable_ = false;  // the context is dead
  return last_;
}

worker_answer worker_link::load(std::uint32_t slot, std::string_view module_bytes,
                                std::chrono::nanoseconds limit) {
  if (!usable_) return last_;
  page_->request.slot = slot;
  const auto deadline = clock::now() + limit;
  return finish(post(worker_request::load, module_bytes), deadline);
}

worker_answer worker_link::prepare(std::uint32_t slot, std::string_view plan_bytes,
                                   const std::vector<std::uint64_t>& offsets,
                                   const std::vector<std::uint64_t>& masked, bool alone,
                                   std::chrono::nanoseconds limit) {
  if (!usable_) return last_;
  if (offsets.size() > most_buffers || masked.size() > most_buffers || slot >= most_slots)
    return {call_end::refused, 0, "the plan has too many buffers"};
  page_->request.slot = slot;
  page_->request.alone = alone ? 1 : 0;
  page_->request.buffers = static_cast<std::uint32_t>(offsets.size());
  std::copy(offsets.begin(), offsets.end(), page_->request.offsets.begin());
  page_->request.masked_bytes.fill(0);
  std::copy(masked.begin(), masked.end(), page_->request.masked_bytes.begin());
  const auto deadline = clock::now() + limit;
  return finish(post(worker_request::prepare, plan_bytes), deadline);
}

worker_answer worker_link::join(std::uint32_t count, bool admitted, std::chrono::nanoseconds limit) {
  if (!usable_) return last_;
  page_->request.count = count;
  page_->request.behind_barriers = admitted ? 1 : 0;
  const auto deadline = clock::now() + limit;
  return finish(post(worker_request::join, {}), deadline);
}

worker_answer worker_link::drop() {
  if (!usable_) return last_;
  return finish(post(worker_request::drop, {}), clock::now() + std::chrono::seconds(10));
}

worker_answer worker_link::step(std::uint32_t slot, const std::vector<std::uint64_t>& offsets,
                                std::chrono::nanoseconds limit, step_kind kind) {
  if (!usable_) return last_;
  if (offsets.size() > most_buffers || slot >= most_slots)
    return {call_end::refused, 0, "a call of too many buffers"};
  page_->request.slot = slot;
  page_->request.blocked = 0;
  page_->request.step = kind;
  page_->request.buffers = static_cast<std::uint32_t>(offsets.size());
  std::copy(offsets.begin(), offsets.end(), page_->request.offsets.begin());
  const auto deadline = clock::now() + limit;
  return finish(post(worker_request::step, {}), deadline, wait_is::timed);
}

worker_answer worker_link::held_step(const std::vector<std::uint64_t>& offsets,
                                     std::chrono::nanoseconds patience,
                                     const std::function<void(std::uint64_t)>& release,
                                     std::chrono::nanoseconds limit, bool& launched, step_kind kind) {
  if (!usable_) return last_;
  if (offsets.size() > most_buffers) return {call_end::refused, 0, "a call of too many buffers"};
  page_->request.slot = 0;
  page_->request.blocked = 1;
  page_->request.step = kind;
  page_->request.buffers = static_cast<std::uint32_t>(offsets.size());
  std::copy(offsets.begin(), offsets.end(), page_->request.offsets.begin());
  const auto number = post(worker_request::step, {});
  const auto end = wait_until(
      page_->armed,
      [&] {
        return page_->armed.load(std::memory_order_acquire) == number ||
               page_->done.load(std::memory_order_acquire) == number;
      },
      clock::now() + patience);
  if (end == call_end::died) return end_with(end);
  launched = end == call_end::done;
  release(number);
  return finish(number, clock::now() + limit, wait_is::timed);
}

std::vector<result_claim> worker_link::claims(std::size_t count) const {
  if (named_->request.load(std::memory_order_acquire) != number_ || named_->count != count ||
      count > most_buffers)
    return {};
  std::vector<result_claim> copied(count);
  std::memcpy(copied.data(), named_->results.data(), count * sizeof(result_claim));
  return copied;
}

worker_answer worker_link::show(std::uint32_t result, std::uint64_t offset,
                                std::array<unsigned char, shown_bytes>& shown) {
  if (!usable_) return last_;
  named_->asked_result = result;
  named_->asked_offset = offset;
  auto answer = finish(post(worker_request::show, {}), clock::now() + std::chrono::seconds(10));
  std::memcpy(shown.data(), named_->shown.data(), shown.size());
  return answer;
}

std::string worker_link::remark() const {
  char message[sizeof page_->answer.message];
  std::memcpy(message, page_->answer.message, sizeof message);
  return printable({message, sizeof message});
}

worker_answer worker_link::wake() {
  if (!usable_) return last_;
  return finish(post(worker_request::none, {}), clock::now() + std::chrono::seconds(10));
}

worker_answer worker_link::touch() {
  if (!usable_) return last_;
  return finish(post(worker_request::touch, {}), clock::now() + std::chrono::seconds(10), wait_is::timed);
}

timed_run worker_link::run(bool blocked, std::chrono::nanoseconds limit) {
  if (!usable_) return {last_};
  page_->request.blocked = blocked ? 1 : 0;
  page_->request.behind_barriers = 0;
  page_->request.block_limit_ns = 200'000'000;
  const auto number = post(worker_request::run, {});
  timed_run result;
  if (const auto end = wait_for(page_->armed, number, clock::now() + std::chrono::seconds(10));
      end != call_end::done) {
    result.answer = end_with(end);
    return result;
  }
  const auto start = clock::now();
  publish(page_->release, number);
  const auto end = wait_for(page_->done, number, start + limit, wait_is::timed);
  const auto stop = clock::now();
  if (end != call_end::done) {
    result.answer = end_with(end);
    return result;
  }
  result.outside_ns = std::chrono::duration<double, std::nano>(stop - start).count();
  result.event_ns = page_->answer.event_ns;
  result.unblocked = page_->answer.unblocked != 0;
  result.answer = finish(number, clock::now() + std::chrono::seconds(1));
  return result;
}

// The worker has come to that barrier, or its run has failed.
worker_answer worker_link::await_barrier(std::uint64_t barrier, clock::time_point deadline, wait_is is) {
  const auto wanted = barrier_word(number_, barrier);
  const auto failed = barrier_word(number_, 0xffff);
  const auto end = wait_until(
      page_->ended,
      [&] {
        const auto word = page_->ended.load(std::memory_order_acquire);
        return (word >= wanted && word <= failed) || word == failed;
      },
      deadline, is);
  if (end != call_end::done) return end_with(end);
  if (page_->ended.load(std::memory_order_acquire) != failed) return {};
  auto answer = finish(number_, clock::now() + std::chrono::seconds(1));
  if (answer.end == call_end::done) answer = end_with(call_end::contradiction);
  return answer;
}

worker_answer worker_link::begin_admitted() {
  if (!usable_) return last_;
  page_->request.behind_barriers = 1;
  calls_ended_ = 0;
  post(worker_request::run, {});
  return await_barrier(0, clock::now() + std::chrono::seconds(10));
}

admitted_call worker_link::admit(const std::array<std::uint64_t, 2>& key, std::chrono::nanoseconds limit) {
  if (!usable_) return {last_};
  admitted_call call;
  const std::uint64_t barrier = 2 * calls_ended_++;
  call.answer = await_barrier(barrier, clock::now() + std::chrono::seconds(10));
  if (call.answer.end != call_end::done) return call;
  page_->key = key;
  const auto start = clock::now();
  publish(page_->admitted, barrier_word(number_, barrier));
  call.answer = await_barrier(barrier + 1, start + limit, wait_is::timed);
  call.ns = std::chrono::duration<double, std::nano>(clock::now() - start).count();
  return call;
}

timed_run worker_link::end_admitted() {
  if (!usable_) return {last_};
  timed_run result;
  result.answer = finish(number_, clock::now() + std::chrono::seconds(10));
  result.event_ns = page_->answer.event_ns;
  for (std::size_t k = 0; k < calls_ended_ && k < most_slots; ++k)
    result.each_event_ns.push_back(static_cast<double>(page_->answer.each_event_ns[k]));
  result.unblocked = page_->answer.unblocked != 0;
  return result;
}

}  // namespace kevo::cuda
