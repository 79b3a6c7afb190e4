#include "src/journal/rejudged.hpp"

#include <filesystem>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/sqlite/sqlite.hpp"
#include "src/journal/database_file.hpp"

namespace kevo {
namespace {

constexpr std::int64_t application_id = 0x6b65766a;
constexpr std::int64_t schema_version = 1;

constexpr const char* schema = R"(
CREATE TABLE rejudged (
  number INTEGER PRIMARY KEY,
  judged_at TEXT NOT NULL,
  kevo_version TEXT NOT NULL,
  candidate INTEGER NOT NULL,
  program TEXT NOT NULL,
  task_id TEXT NOT NULL,
  protocol TEXT NOT NULL,
  device TEXT NOT NULL,
  fitness TEXT NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  outcome TEXT NOT NULL,
  speedup REAL,
  speedup_low REAL,
  speedup_high REAL,
  score REAL,
  evaluation TEXT NOT NULL
) STRICT;
CREATE INDEX rejudged_program ON rejudged(program);
)";

constexpr const char* columns =
    "judged_at, kevo_version, candidate, program, task_id, protocol, device, fitness, verdict, reason, "
    "evaluation";

void check(sqlite::connection& database, const std::string& path) {
  const error_place place{.file = path, .key = {}};
  if (database.integer("PRAGMA application_id") != application_id)
    throw error(error_code::input, "the file is a database, but does not contain verdicts of kevo rejudge",
                place, "move the file away, then run kevo rejudge again");
  if (database.integer("PRAGMA user_version") > schema_version)
    throw error(error_code::input, "the file was written by a newer version of kevo", place,
                "use a newer version of kevo");
  // A view of that name could be anything, a query without an end for instance.
  if (database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'rejudged' AND type = 'table'") != 1)
    throw error(error_code::input, "the file is damaged: the table 'rejudged' is missing", place,
                "remove the file, then run kevo rejudge again");
}

template <class T>
std::optional<T> known(T value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

rejudged_row row_of(sqlite::statement& rows) {
  rejudged_row one;
  one.judged_at = rows.text(0);
  one.kevo_version = rows.text(1);
  one.candidate = static_cast<candidate_id>(rows.integer(2));
  one.program = rows.text(3);
  one.rules = {rows.text(4), rows.text(5), rows.text(6), rows.text(7)};
  one.verdict = rows.text(8);
  one.reason = rows.text(9);
  one.result = evaluation_from_json(rows.text(10));
  return one;
}

}  // namespace

struct rejudged_file::state {
  std::string path;
  sqlite::connection database;
};

rejudged_file rejudged_file::open(const std::string& run_directory) {
  auto made = std::make_shared<state>();
  made->path = run_directory + "/rejudged.sqlite";
  detail::translated(made->path, [&] {
    made->database = sqlite::connection(made->path, sqlite::access::create);
    made->database.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;");
    if (made->database.integer("SELECT count(*) FROM sqlite_master") == 0 &&
        made->database.integer("PRAGMA application_id") == 0) {
      made->database.execute(
          fmt::format("BEGIN; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;", schema,
                      application_id, schema_version));
    }
    check(made->database, made->path);
  });
  return rejudged_file(std::move(made));
}

std::optional<rejudged_file> rejudged_file::open_read_only(const std::string& run_directory) {
  auto made = std::make_shared<state>();
  made->path = run_directory + "/rejudged.sqlite";
  if (!std::filesystem::exists(made->path)) return std::nullopt;
  detail::translated(made->path, [&] {
    made->database = sqlite::connection(made->path, sqlite::access::read);
    check(made->database, made->path);
  });
  return rejudged_file(std::move(made));
}

void rejudged_file::append(const rejudged_row& row) {
  detail::translated(state_->path, [&] {
    auto put = state_->database.prepare(
        "INSERT INTO rejudged (judged_at, kevo_version, candidate, program, task_id, protocol, device, "
        "fitness,"
        " verdict, reason, outcome, speedup, speedup_low, speedup_high, score, evaluation)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const evaluation& e = row.result;
    put.run(row.judged_at, row.kevo_version, row.candidate, row.program, row.rules.task_id,
            row.rules.protocol, row.rules.device, row.rules.fitness, row.verdict, row.reason,
            to_string(e.outcome), known(e.speedup), known(e.speedup_interval.low),
            known(e.speedup_interval.high), known(e.score), to_json(e, {.exact = true}));
  });
}

std::vector<rejudged_row> rejudged_file::rows() const {
  return detail::translated(state_->path, [&] {
    auto found = state_->database.prepare(fmt::format("SELECT {} FROM rejudged ORDER BY number", columns));
    std::vector<rejudged_row> all;
    while (found.step()) all.push_back(row_of(found));
    return all;
  });
}

std::optional<rejudged_row> rejudged_file::find(const std::string& program,
                                                const rejudge_rules& rules) const {
  return detail::translated(state_->path, [&]() -> std::optional<rejudged_row> {
    auto found = state_->database.prepare(fmt::format(
        "SELECT {} FROM rejudged WHERE program = ? AND task_id = ? AND protocol = ? AND device = ?"
        " AND fitness = ? ORDER BY number DESC LIMIT 1",
        columns));
    found.bind_all(program, rules.task_id, rules.protocol, rules.device, rules.fitness);
    if (!found.step()) return std::nullopt;
    return row_of(found);
  });
}

const std::string& rejudged_file::path() const {
  return state_->path;
}

}  // namespace kevo
