#include "src/serve/store.hpp"

#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <kevo/error.hpp>

namespace kevo::serve {
namespace {

constexpr const char* schema = R"sql(
CREATE TABLE IF NOT EXISTS jobs (
  number        INTEGER PRIMARY KEY,
  key           TEXT NOT NULL UNIQUE,
  payload       TEXT NOT NULL,
  progress      INTEGER NOT NULL,
  priority      INTEGER NOT NULL,
  deadline,
  starts        INTEGER NOT NULL,
  begun,
  ended,
  result        TEXT NOT NULL,
  public_result TEXT NOT NULL,
  error         TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS unfinished_jobs ON jobs (progress) WHERE progress < 2;
CREATE TABLE IF NOT EXISTS tickets (
  number     INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  tenant     TEXT NOT NULL,
  job        TEXT NOT NULL,
  knows_task INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS tickets_by_job ON tickets (job);
CREATE TABLE IF NOT EXISTS labels (
  tenant TEXT NOT NULL,
  label  TEXT NOT NULL,
  ticket TEXT NOT NULL,
  PRIMARY KEY (tenant, label)
) WITHOUT ROWID;
)sql";

constexpr std::int64_t schema_version = 1;

std::string file_in(const std::string& folder) {
  return folder.empty() ? std::string() : folder + "/service.sqlite";
}

/// Makes the folder and takes its lock, a file with the number of this process.
detail::descriptor lock_of(const std::string& folder) {
  if (folder.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  if (failed)
    throw error(error_code::environment, "cannot make this folder: " + failed.message(), {folder},
                "give another folder with --state");
  detail::descriptor made(::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!made || ::flock(made.get(), LOCK_EX | LOCK_NB) != 0)
    throw error(error_code::environment, "another server uses this folder", {folder},
                "stop that server, or give another folder with --state");
  const std::string process = std::to_string(::getpid()) + '\n';
  if (::ftruncate(made.get(), 0) != 0 ||
      ::pwrite(made.get(), process.data(), process.size(), 0) != static_cast<ssize_t>(process.size()))
    throw error(error_code::environment, "cannot write into this folder", {folder + "/lock"},
                "check the free disk space, or give another folder with --state");
  return made;
}

sqlite::connection open_database(const std::string& folder) {
  try {
    sqlite::connection made(file_in(folder), sqlite::access::create);
    made.execute("PRAGMA journal_mode = WAL");
    // A commit is in the system's hands when it returns, which is what outlives the process.
    made.execute("PRAGMA synchronous = NORMAL");
    // Copying the log to the file waits for the disk. `checkpoints` does it, unless it cannot.
    made.execute("PRAGMA wal_autocheckpoint = 32768");
    const auto version = made.integer("PRAGMA user_version");
    if (version != 0 && version != schema_version)
      throw error(error_code::input, "this record was written by another version of kevo", {file_in(folder)},
                  "give another folder with --state");
    made.execute(schema);
    made.execute("PRAGMA user_version = " + std::to_string(schema_version));
    return made;
  } catch (const sqlite::failure& failed) {
    throw error(failed.damaged() ? error_code::input : error_code::environment,
                std::string("cannot open the record of the service: ") + failed.what(), {file_in(folder)},
                "check the disk, or give another folder with --state");
  }
}

job read_job(sqlite::statement& row) {
  job one;
  one.key = row.text(0);
  one.payload = row.text(1);
  one.progress = static_cast<remote::progress>(row.integer(2));
  one.priority = row.integer(3);
  one.deadline_unix_s = row.is_null(4) ? 0 : row.real(4);
  one.starts = row.integer(5);
  one.begun_unix_s = row.is_null(6) ? 0 : row.real(6);
  one.ended_unix_s = row.is_null(7) ? 0 : row.real(7);
  one.result = row.text(8);
  one.public_result = row.text(9);
  one.error = row.text(10);
  return one;
}

ticket read_ticket(sqlite::statement& row) {
  return {row.text(0), row.text(1), row.text(2), row.integer(3) != 0};
}

constexpr const char* ticket_columns = "id, tenant, job, knows_task";
constexpr const char* job_columns =
    "key, payload, progress, priority, deadline, starts, begun, ended, result, public_result, error";

std::string select_from(const char* columns, const std::string& rest) {
  return std::string("SELECT ") + columns + " FROM " + rest;
}

}  // namespace

store::store(const std::string& folder)
    : lock_(lock_of(folder)), database_(open_database(folder)), checkpoints_(file_in(folder)) {
  put_job_ = database_.prepare(
      "INSERT INTO jobs (key, payload, progress, priority, deadline, starts, result, public_result, error) "
      "VALUES (?, ?, 0, ?, ?, 0, '', '', '') ON CONFLICT (key) DO UPDATE SET payload = excluded.payload, "
      "progress = 0, priority = excluded.priority, deadline = excluded.deadline, starts = 0, error = ''");
  put_ticket_ = database_.prepare(
      "INSERT INTO tickets (id, tenant, job, knows_task) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING");
  put_label_ = database_.prepare(
      "INSERT INTO labels (tenant, label, ticket) VALUES (?, ?, ?) ON CONFLICT (tenant, label) DO UPDATE SET "
      "ticket = excluded.ticket");
  begin_ = database_.prepare("UPDATE jobs SET progress = 1, starts = starts + 1, begun = ? WHERE key = ?");
  queue_ = database_.prepare("UPDATE jobs SET progress = 0 WHERE key = ?");
  terms_ = database_.prepare("UPDATE jobs SET priority = ?, deadline = ? WHERE key = ?");
  end_ = database_.prepare(
      "UPDATE jobs SET progress = ?, begun = ?, ended = ?, result = ?, public_result = ?, error = ? WHERE "
      "key = ?");
  job_ = database_.prepare(select_from(job_columns, "jobs WHERE key = ?"));
  ticket_ = database_.prepare(select_from(ticket_columns, "tickets WHERE id = ? AND tenant = ?"));
  label_ = database_.prepare(select_from(
      ticket_columns, "tickets WHERE id = (SELECT ticket FROM labels WHERE tenant = ? AND label = ?)"));
  tickets_ = database_.prepare(select_from(ticket_columns, "tickets WHERE job = ?"));
}

void store::put(const job& one) {
  put_job_.run(one.key, one.payload, one.priority, one.deadline_unix_s);
  checkpoints_.note_commit();
}
void store::put(const ticket& one) {
  put_ticket_.run(one.id, one.tenant, one.job, one.knows_task ? 1 : 0);
  checkpoints_.note_commit();
}
void store::put_label(const ticket& of, const std::string& label) {
  put_label_.run(of.tenant, label, of.id);
  checkpoints_.note_commit();
}
void store::begin(const std::string& key, double now_unix_s) {
  begin_.run(now_unix_s, key);
  checkpoints_.note_commit();
}
void store::set_queued(const std::string& key) {
  queue_.run(key);
  checkpoints_.note_commit();
}
void store::set_terms(const job& one) {
  terms_.run(one.priority, one.deadline_unix_s, one.key);
  checkpoints_.note_commit();
}
void store::end(const job& one) {
  end_.run(static_cast<int>(one.progress), one.begun_unix_s, one.ended_unix_s, one.result, one.public_result,
           one.error, one.key);
  checkpoints_.note_commit();
}

std::optional<job> store::find_job(const std::string& key) {
  const sqlite::statement_reset done(job_);
  job_.bind_all(key);
  if (!job_.step()) return std::nullopt;
  return read_job(job_);
}
std::optional<ticket> store::find_ticket(const std::string& tenant, const std::string& id) {
  const sqlite::statement_reset done(ticket_);
  ticket_.bind_all(id, tenant);
  if (!ticket_.step()) return std::nullopt;
  return read_ticket(ticket_);
}
std::optional<ticket> store::find_label(const std::string& tenant, const std::string& label) {
  const sqlite::statement_reset done(label_);
  label_.bind_all(tenant, label);
  if (!label_.step()) return std::nullopt;
  return read_ticket(label_);
}
std::vector<ticket> store::tickets_of_job(const std::string& key) {
  const sqlite::statement_reset done(tickets_);
  tickets_.bind_all(key);
  std::vector<ticket> all;
  while (tickets_.step()) all.push_back(read_ticket(tickets_));
  return all;
}

std::vector<job> store::unfinished() {
  auto rows = database_.prepare(select_from(job_columns, "jobs WHERE progress < 2 ORDER BY number"));
  std::vector<job> all;
  while (rows.step()) all.push_back(read_job(rows));
  return all;
}

std::int64_t store::count(remote::progress state) {
  return database_.integer("SELECT count(*) FROM jobs WHERE progress = " +
                           std::to_string(static_cast<int>(state)));
}

void store::transaction_rollback() noexcept {
  try {
    if (database_.in_transaction()) database_.execute("ROLLBACK");
  } catch (const sqlite::failure&) {  // then the connection has done it
  }
}

}  // namespace kevo::serve
