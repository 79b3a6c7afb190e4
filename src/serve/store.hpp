#pragma once
// The durable record of an evaluation service: jobs (what is to be evaluated, one of each content) and
// tickets (who asked for which job), in an SQLite file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/process/descriptor.hpp"
#include "src/base/sqlite/sqlite.hpp"
#include "src/remote/protocol.hpp"
#include "src/serve/checkpoints.hpp"

namespace kevo::serve {

/// One evaluation that was asked for, by whomever.
struct job {
  std::string key;      ///< content id of all that the evaluation depends on
  std::string payload;  ///< the submission as JSON
  remote::progress progress = remote::progress::queued;
  std::int64_t priority = 0;
  double deadline_unix_s = 0;  ///< [s since 1970] not begun after that; 0: none
  std::int64_t starts = 0;     ///< how often its evaluation began
  double begun_unix_s = 0;     ///< [s since 1970] of the latest begin
  double ended_unix_s = 0;     ///< [s since 1970]
  std::string result;          ///< the evaluation as JSON, once it is done
  std::string public_result;   ///< the same without sizes and numbers of hidden workloads
  std::string error;           ///< of a failed one, as JSON: {"code", "message"}
};

/// Who asked for a job.
struct ticket {
  std::string id;
  std::string tenant;
  std::string job;          ///< its key
  bool knows_task = false;  ///< whether the tenant named the task's content id and so has the task
};

/// Everything that is committed survives the end of the process at any moment (`kill -9`). After a power
/// failure the last moments may be missing; clients then submit again. Not thread-safe.
class store {
 public:
  /// Opens or makes FOLDER/service.sqlite. An empty folder is a database in memory, for tests.
  /// @throws kevo::error: input (not a database of kevo's), environment (it cannot be written, or another
  /// server uses it)
  explicit store(const std::string& folder);
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  /// Adds a job or, if it is there, sets it back to `queued`.
  void put(const job& one);
  void put(const ticket& one);
  /// Notes a tenant's own name for a ticket. A ticket may have several; of equal ones the latest counts.
  void put_label(const ticket& of, const std::string& label);
  void begin(const std::string& key, double now_unix_s);
  void set_queued(const std::string& key);
  /// Records priority and deadline.
  void set_terms(const job& one);
  /// Records a final state with result or error.
  void end(const job& one);

  std::optional<job> find_job(const std::string& key);
  std::optional<ticket> find_ticket(const std::string& tenant, const std::string& id);
  /// The ticket that a tenant named so last.
  std::optional<ticket> find_label(const std::string& tenant, const std::string& label);
  std::vector<ticket> tickets_of_job(const std::string& key);
  /// Jobs that were queued or running when the record ends, in the order in which they came; without results.
  std::vector<job> unfinished();
  std::int64_t count(remote::progress state);
  void transaction_begin() { database_.execute("BEGIN IMMEDIATE"); }
  void transaction_commit() {
    database_.execute("COMMIT");
    checkpoints_.note_commit();
  }
  void transaction_rollback() noexcept;

 private:
  detail::descriptor lock_;
  sqlite::connection database_;
  sqlite::statement put_job_, put_ticket_, put_label_, begin_, queue_, terms_, end_, job_, ticket_, label_,
      tickets_;
  checkpoints checkpoints_;
};

}  // namespace kevo::serve
