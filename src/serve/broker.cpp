#include "src/serve/broker.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include <kevo/content_id.hpp>
#include <kevo/program.hpp>

#include "src/base/time/seconds_since.hpp"
#include "src/base/time/unix_seconds.hpp"
#include "src/serve/refusal.hpp"

namespace kevo::serve {
namespace {

/// A job during which the server ended so often is not tried again: it may be what ends the server.
constexpr std::int64_t most_starts = 3;

std::string ticket_id(const std::string& tenant, const std::string& key, bool knows_task) {
  return to_string(
      content_hasher().text("kevo ticket 1").text(tenant).text(key).number(knows_task ? 1 : 0).finish());
}

}  // namespace

std::string job_key(const remote::submission& what, const std::string& task_key) {
  content_hasher hash;
  hash.text("kevo job 1").text(task_key).text(kevo::to_string(id_of(what.program)));
  hash.text(kevo::to_string(what.stage)).number(std::bit_cast<std::uint64_t>(what.best_speedup));
  hash.text(what.attempt).number(std::bit_cast<std::uint64_t>(what.limit_s));
  if (!what.second_try) hash.text("one try");
  return kevo::to_string(hash.finish());
}

broker::broker(const std::string& folder, std::size_t longest_queue, metrics& counts)
    : longest_queue_(longest_queue), counts_(counts), record_(folder) {
  for (auto& left : record_.unfinished()) {
    if (left.progress == remote::progress::running && left.starts >= most_starts) {
      left.progress = remote::progress::failed;
      left.ended_unix_s = unix_seconds();
      left.error =
          R"({"code":"environment","message":"the server ended three times while it evaluated this program"})";
      record_.end(left);
      continue;
    }
    if (left.progress == remote::progress::running) record_.set_queued(left.key);
    enqueue_for_all(left);
  }
}

void broker::enqueue(const job& one, const std::string& tenant) {
  fair_queue::terms at{.priority = one.priority, .number = next_++};
  if (one.deadline_unix_s > 0) at.deadline = one.deadline_unix_s;
  queue_.put(one.key, tenant, at);
  more_.notify_one();
}

void broker::enqueue_for_all(const job& one) {
  for (const auto& owner : record_.tickets_of_job(one.key)) enqueue(one, owner.tenant);
}

// A tenant that fills the queue leaves the others their shares of it.
bool broker::is_full_for(const std::string& tenant) const {
  const std::size_t own = queue_.size_of(tenant);
  const std::size_t tenants = queue_.tenants() + (own == 0 ? 1 : 0);
  return queue_.size() >= longest_queue_ && own >= std::max<std::size_t>(longest_queue_ / tenants, 1);
}

ticket_view broker::view(ticket owner, job work) const {
  ticket_view seen{std::move(owner), std::move(work)};
  if (running_.contains(seen.work.key)) seen.work.progress = remote::progress::running;
  // Counting the queue is not worth its time when it is long.
  constexpr std::int64_t most_counted = 1000;
  seen.position = queue_.before(seen.owner.tenant, seen.work.key, most_counted);
  return seen;
}

ticket_view broker::submit(const std::string& tenant, const remote::submission& what,
                           const std::string& task_key, const std::string& label) {
  const std::string key = job_key(what, task_key);
  ticket owner{ticket_id(tenant, key, !what.task_id.empty()), tenant, key, !what.task_id.empty()};
  const std::scoped_lock lock(guard_);
  auto known = record_.find_job(key);
  const bool again =
      known && (known->progress == remote::progress::failed || known->progress == remote::progress::expired);
  const bool fresh = !known || again;
  if (fresh && is_full_for(tenant)) throw refusal{429, "busy", "the queue is full", "try again later", 5};
  const auto note_owner = [&] {
    if (!record_.find_ticket(tenant, owner.id)) record_.put(owner);
    const auto named = label.empty() ? std::optional(owner) : record_.find_label(tenant, label);
    if (!named || named->id != owner.id) record_.put_label(owner, label);
  };
  if (fresh) {
    job made;
    made.key = key;
    made.payload = remote::to_json(what);
    made.priority = what.priority;
    made.deadline_unix_s = what.deadline_s > 0 ? unix_seconds() + what.deadline_s : 0;
    record_.transaction_begin();
    try {
      record_.put(made);
      note_owner();
      record_.transaction_commit();
    } catch (...) {
      record_.transaction_rollback();
      throw;
    }
    known = made;
    enqueue(made, tenant);
    ++counts_.accepted;
    tell(key, "queued");
  } else {
    note_owner();
    if (queue_.contains(key)) join(*known, what, tenant);
    ++counts_.known;
  }
  return view(std::move(owner), std::move(*known));
}

// A job that waits for several submissions is begun when the most urgent one wants it, and expires when the
// most patient one gives up.
void broker::join(job& waits, const remote::submission& what, const std::string& tenant) {
  const double deadline = what.deadline_s > 0 ? unix_seconds() + what.deadline_s : 0;
  const bool longer = waits.deadline_unix_s > 0 && (deadline == 0 || deadline > waits.deadline_unix_s);
  if (longer) waits.deadline_unix_s = deadline;
  const bool sooner = what.priority > waits.priority;
  if (sooner) waits.priority = what.priority;
  if (longer || sooner) record_.set_terms(waits);
  if (longer || sooner || queue_.before(tenant, waits.key, 1) < 0) enqueue(waits, tenant);
}

std::optional<ticket_view> broker::find(const std::string& tenant, const std::string& id) {
  const std::scoped_lock lock(guard_);
  auto owner = record_.find_ticket(tenant, id);
  if (!owner) return std::nullopt;
  auto work = record_.find_job(owner->job);
  if (!work) return std::nullopt;
  return view(std::move(*owner), std::move(*work));
}

std::optional<ticket_view> broker::find_label(const std::string& tenant, const std::string& label) {
  const std::scoped_lock lock(guard_);
  auto owner = record_.find_label(tenant, label);
  if (!owner) return std::nullopt;
  auto work = record_.find_job(owner->job);
  if (!work) return std::nullopt;
  return view(std::move(*owner), std::move(*work));
}

std::uint64_t broker::when_ended(const std::string& key, std::function<void()> wake) {
  {
    const std::scoped_lock lock(guard_);
    if (queue_.contains(key) || running_.contains(key)) {
      waiters_.emplace(key, std::pair{next_, std::move(wake)});
      return next_++;
    }
  }
  wake();
  return 0;
}

void broker::forget(const std::string& key, std::uint64_t number) {
  const std::scoped_lock lock(guard_);
  const auto [first, last] = waiters_.equal_range(key);
  for (auto each = first; each != last; ++each) {
    if (each->second.first == number) {
      waiters_.erase(each);
      return;
    }
  }
}

std::uint64_t broker::listen(const std::string& tenant, listener told) {
  const std::scoped_lock lock(guard_);
  listeners_.emplace(next_, std::pair{tenant, std::move(told)});
  return next_++;
}

void broker::unlisten(std::uint64_t number) {
  const std::scoped_lock lock(guard_);
  listeners_.erase(number);
}

// Called with the lock held: listeners only hand the event on to their connection.
void broker::tell(const std::string& key, const char* kind) {
  if (listeners_.empty()) return;
  for (const auto& owner : record_.tickets_of_job(key)) {
    for (const auto& [number, listening] : listeners_) {
      if (listening.first == owner.tenant) listening.second(kind, owner.id);
    }
  }
}

std::optional<job> broker::take(std::stop_token stop) {
  std::unique_lock lock(guard_);
  for (;;) {
    if (!more_.wait(lock, stop, [this] { return queue_.size() > 0; })) return std::nullopt;
    if (stop.stop_requested()) return std::nullopt;
    const std::string key = *queue_.next();
    auto work = record_.find_job(key);
    const double now = unix_seconds();
    const bool late = work && work->deadline_unix_s > 0 && now > work->deadline_unix_s;
    // The record comes first: what cannot be recorded stays in the queue.
    if (work && !late) record_.begin(key, now);
    fair_queue::turn turn = queue_.take();
    if (!work) {
      queue_.settle(turn, 0);
      continue;
    }
    running_[key] = {std::move(turn), std::chrono::steady_clock::now()};
    if (late) {
      work->progress = remote::progress::expired;
      return work;
    }
    work->progress = remote::progress::running;
    work->begun_unix_s = now;
    tell(key, "running");
    return work;
  }
}

void broker::end(const job& what) {
  std::vector<std::function<void()>> wake;
  job work = what;
  work.ended_unix_s = unix_seconds();
  {
    const std::scoped_lock lock(guard_);
    record_.end(work);
    leave(work.key);
    tell(work.key, std::string(to_string(work.progress)).c_str());
    const auto [first, last] = waiters_.equal_range(work.key);
    for (auto each = first; each != last; ++each) wake.push_back(std::move(each->second.second));
    waiters_.erase(first, last);
  }
  ++counts_.ended[static_cast<std::size_t>(work.progress)];
  for (const auto& one : wake) one();
}

void broker::put_back(const std::string& key) {
  const std::scoped_lock lock(guard_);
  record_.set_queued(key);
  leave(key);
  if (const auto work = record_.find_job(key)) enqueue_for_all(*work);
}

// Its tenant has had the time that it was at work.
void broker::leave(const std::string& key) {
  const auto found = running_.find(key);
  if (found == running_.end()) return;
  queue_.settle(found->second.turn, seconds_since(found->second.since));
  running_.erase(found);
}

std::size_t broker::queued() const {
  const std::scoped_lock lock(guard_);
  return queue_.size();
}
std::size_t broker::running() const {
  const std::scoped_lock lock(guard_);
  return running_.size();
}

}  // namespace kevo::serve
