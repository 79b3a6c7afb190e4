#include "fitness/cuda/measure/worker_source.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <kevo/error.hpp>

namespace kevo::cuda {

worker_source::worker_source(device_client& device, worker_options options, std::uint64_t arena_bytes,
                             std::size_t ahead)
    : device_(&device), options_(std::move(options)), arena_(device.open_arena(arena_bytes)), ahead_(ahead) {}

worker_source::~worker_source() {
  if (coming_.valid()) coming_.wait();
}

worker_source::worker worker_source::start(bool begins) const {
  auto made = std::make_unique<worker_process>(options_, device_->facts(), arena_.memory.get(), arena_.bytes);
  if (begins) made->begin();
  return made;
}

// Not on the thread that measures: setting up a sandbox takes some milliseconds.
void worker_source::set_up_more(std::size_t begin, std::size_t rest) {
  if (begin + rest == 0) return;
  some_begin_ = begin > 0;
  coming_ = std::async(std::launch::async, [this, begin, rest] {
    set_up made;
    while (made.begun.size() < begin) made.begun.push_back(start(true));
    while (made.resting.size() < rest) made.resting.push_back(start(false));
    return made;
  });
}

// Those that were set up come to those that wait.
void worker_source::gather() {
  if (!coming_.valid()) return;
  some_begin_ = false;
  auto made = coming_.get();
  for (auto& one : made.begun) spare_.push_back(std::move(one));
  for (auto& one : made.resting) resting_.push_back(std::move(one));
}

// A process that another one forks is there at once, and begins at once: none rests.
void worker_source::begin_more(std::size_t count) {
  if (count == 0 || none_ahead_) return;
  if (resting_.size() < count) gather();
  for (; count > 0 && !resting_.empty(); --count) {
    resting_.front()->begin();
    spare_.push_back(std::move(resting_.front()));
    resting_.pop_front();
  }
  if (!coming_.valid()) set_up_more(count, options_.fork || !resting_.empty() ? 0 : 1);
}

void worker_source::replace() {
  if (ahead_ == 0 || some_begin_) return;
  if (ahead_ == 1) {
    if (spare_.size() <= 1) begin_more(1);
  } else if (spare_.size() < ahead_) {
    begin_more(ahead_ - spare_.size());
  }
}

worker_source::worker worker_source::next() {
  if (none_ahead_) return start(true);
  if (spare_.empty() && (resting_.empty() || some_begin_)) gather();
  if (spare_.empty() && !resting_.empty()) begin_more(1);
  if (spare_.empty() && ahead_ > 1) {
    begin_more(ahead_);  // whoever needs one needs more of them soon
    gather();
  }
  if (spare_.empty()) return start(true);
  auto one = std::move(spare_.front());
  spare_.pop_front();
  return one;
}

void worker_source::end() {
  if (!current_) return;
  const time_span span(spent().workers_s);
  current_->kill();  // whatever the device says to the rest
  // One that still had work on the device must be gone before the arena has another's contents.
  if (leaving_.valid()) {
    const time_span waiting(spent().ends_s);
    leaving_.get();
  }
  leaving_ = std::async(std::launch::async, [old = std::move(current_)]() mutable { old.reset(); });
  device_->detach(arena_.number);
}

void worker_source::fresh(bool timing) {
  end();
  const time_span span(spent().workers_s);
  for (bool again = false;; again = true) {
    current_ = again ? start(true) : next();
    const auto answer = [&] {
      const time_span waiting(spent().starts_s);
      return device_->attach(arena_.number, current_->region(), current_->handle());
    }();
    if (answer.end == call_end::done) {
      ++spent().processes;
      break;
    }
    std::string why = answer.message;
    if (answer.end == call_end::died) why = "it " + death();
    end();
    if (again) {
      throw error(error_code::environment, "no worker starts on the device" + (why.empty() ? "" : ": " + why),
                  {}, "run `kevo doctor`, which tests each part");
    }
    // One that has begun ahead shared the device with a program that may have held all of its memory.
    gather();
    spare_.clear();
    if (leaving_.valid()) leaving_.get();
  }
  // While the checks run: they need no quiet device.
  if (spare_.empty() && !some_begin_ && !(timing && ahead_ > 1)) begin_more(ahead_);
}

void worker_source::start_none_ahead(bool wanted) {
  none_ahead_ = wanted;
  if (!wanted) return;
  const time_span span(spent().workers_s);
  gather();
  spare_.clear();
  resting_.clear();
  if (leaving_.valid()) leaving_.get();
}

void worker_source::settle() {
  const time_span span(spent().workers_s);
  if (leaving_.valid()) {
    const time_span waiting(spent().ends_s);
    leaving_.get();
  }
  const time_span waiting(spent().starts_s);
  if (some_begin_) gather();  // those that only rest may come while something is timed
  for (const auto& one : spare_) {
    for (int i = 0; i < 20'000 && !one->ready() && !one->report(); ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

std::string worker_source::death() const {
  if (!current_) return "has ended";
  if (current_->took_too_much())
    return "was ended: it shared or pinned more of the host's memory than limits.memory";
  for (int i = 0; i < 100; ++i) {  // the supervisor learns of it a moment later
    if (const auto report = current_->report()) {
      return describe(*report) + (report->err.empty() ? "" : "; it wrote: " + report->err.substr(0, 500));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return "did not answer";
}

}  // namespace kevo::cuda
