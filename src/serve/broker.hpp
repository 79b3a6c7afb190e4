#pragma once
// The heart of an evaluation service, without network and without fitness function: takes submissions of
// tenants, keeps one job for each content, hands jobs out so that tenants share the time, and tells who
// waits.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "src/remote/protocol.hpp"
#include "src/serve/fair_queue.hpp"
#include "src/serve/metrics.hpp"
#include "src/serve/store.hpp"

namespace kevo::serve {

/// What a tenant sees of its ticket.
struct ticket_view {
  ticket owner;
  job work;
  std::int64_t position = -1;  ///< jobs of the tenant before it in the queue; -1 unless queued
};

/// The content id of all that the answer to a submission depends on. `task_key` stands for the task.
std::string job_key(const remote::submission& what, const std::string& task_key);

/// Thread-safe. Every change is in the store before a call returns.
class broker {
 public:
  /// Jobs that a former server left queued or running are queued again.
  broker(const std::string& folder, std::size_t longest_queue, metrics& counts);

  /// Takes a submission, or finds the ticket that the tenant has for the same content; a job that failed or
  /// expired is queued again. `label`: the tenant's own name for it, may be empty.
  /// @throws refusal (429) if the queue is full and the tenant has its share of it
  ticket_view submit(const std::string& tenant, const remote::submission& what, const std::string& task_key,
                     const std::string& label = {});
  std::optional<ticket_view> find(const std::string& tenant, const std::string& id);
  std::optional<ticket_view> find_label(const std::string& tenant, const std::string& label);

  /// Calls `wake` once when the job has ended, from another thread; at once if it has. Returns a number for
  /// `forget`.
  std::uint64_t when_ended(const std::string& key, std::function<void()> wake);
  void forget(const std::string& key, std::uint64_t number);

  /// An event of a tenant's tickets: kind ("queued", "running", "done", "failed", "expired") and ticket id.
  using listener = std::function<void(const std::string& kind, const std::string& id)>;
  std::uint64_t listen(const std::string& tenant, listener told);
  void unlisten(std::uint64_t number);

  /// Waits for the next job, marks it as running and returns it; nothing if stopped. One whose deadline has
  /// passed is returned as `expired`, to be ended. @throws sqlite::failure; then the queue is as it was
  std::optional<job> take(std::stop_token stop);
  /// Ends a running job. `what` has its final progress, result and error. @throws sqlite::failure; then the
  /// job is running as before
  void end(const job& what);
  /// Puts a job back that was interrupted, as if it had not begun.
  void put_back(const std::string& key);

  std::size_t queued() const;
  std::size_t running() const;

 private:
  /// A job at work.
  struct running_job {
    fair_queue::turn turn;
    std::chrono::steady_clock::time_point since;
  };
  bool is_full_for(const std::string& tenant) const;
  void enqueue(const job& one, const std::string& tenant);
  void enqueue_for_all(const job& one);
  void join(job& waits, const remote::submission& what, const std::string& tenant);
  void leave(const std::string& key);
  void tell(const std::string& key, const char* kind);
  ticket_view view(ticket owner, job work) const;

  const std::size_t longest_queue_;
  metrics& counts_;
  mutable std::mutex guard_;
  std::condition_variable_any more_;
  store record_;
  fair_queue queue_;
  std::map<std::string, running_job> running_;
  std::uint64_t next_ = 1;
  std::multimap<std::string, std::pair<std::uint64_t, std::function<void()>>> waiters_;
  std::map<std::uint64_t, std::pair<std::string, listener>> listeners_;
};

}  // namespace kevo::serve
