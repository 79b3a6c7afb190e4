#include "src/suite/bench_file.hpp"

#include <filesystem>
#include <system_error>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/sqlite/sqlite.hpp"
#include "src/base/text/utf8.hpp"
#include "src/journal/database_file.hpp"
#include "src/journal/run_folder.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t bench_application_id = 0x6b657662;  // "kevb"
constexpr std::int64_t bench_schema_version = 1;

constexpr const char* bench_schema = R"(
CREATE TABLE evaluations (
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  kevo_version TEXT NOT NULL,
  task TEXT NOT NULL,
  solution TEXT NOT NULL,
  task_id TEXT NOT NULL,
  round INTEGER NOT NULL,
  evolved_in TEXT NOT NULL,
  program_id TEXT NOT NULL,
  program TEXT NOT NULL,
  outcome TEXT NOT NULL,
  speedup REAL,
  speedup_low REAL,
  speedup_high REAL,
  device TEXT NOT NULL,
  protocol TEXT NOT NULL,
  evaluation TEXT NOT NULL
) STRICT;
CREATE INDEX evaluations_key ON evaluations(key);
)";

std::string program_text(const program& p) {
  boost::json::array files;
  for (const auto& file : p.files) files.push_back({file.path, file.text});
  return boost::json::serialize(boost::json::object{{"language", p.language}, {"files", std::move(files)}});
}

program program_from(const std::string& text) {
  const auto parsed = parse_json_exactly(text, true);
  program p;
  p.language = std::string(parsed.at("language").as_string());
  for (const auto& file : parsed.at("files").as_array())
    p.files.push_back({std::string(file.at(0).as_string()), std::string(file.at(1).as_string())});
  return p;
}

std::optional<double> positive_or_null(double x) {
  return x > 0 ? std::optional(x) : std::nullopt;
}

void check_bench_file(sqlite::connection& database, const std::string& path) {
  const error_place place{.file = path, .key = {}};
  if (database.integer("PRAGMA application_id") != bench_application_id)
    throw error(error_code::input, "the file is a database, but does not contain results of kevo bench",
                place, "set suite.output to another folder");
  if (database.integer("PRAGMA user_version") > bench_schema_version)
    throw error(error_code::input, "the file was written by a newer version of kevo", place,
                "use a newer version of kevo");
  // A view of that name could be anything, a query without an end for instance.
  if (database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'evaluations' AND type = 'table'") !=
      1)
    throw error(error_code::input, "the file is damaged: the table 'evaluations' is missing", place,
                "remove the file, then run kevo bench again, or set suite.output to another folder");
}

/// A suite may be somebody else's, and name any folder.
void require_own_folder(const std::string& folder) {
  std::error_code unreadable;
  if (fs::exists(folder + "/bench.sqlite", unreadable)) return;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name == ".lock" || name == "cache" || name.starts_with("bench.sqlite")) continue;
    throw error(error_code::input,
                "the folder contains files that are not from kevo bench, for example '" + name +
                    "'; the results might overwrite them",
                {.file = folder, .key = {}}, "set suite.output to an empty or new folder");
  }
}

}  // namespace

struct bench_file::state {
  std::string path;
  detail::folder_lock lock;
  sqlite::connection database;
};

bench_file bench_file::open(const std::string& folder) {
  require_own_folder(folder);
  std::error_code wrong;
  fs::create_directories(folder, wrong);
  if (wrong) {
    throw error(error_code::environment, "cannot make the folder: " + wrong.message(),
                {.file = folder, .key = {}}, "set suite.output to a writable folder");
  }
  auto made = std::make_shared<state>();
  made->path = folder + "/bench.sqlite";
  detail::refuse_links(folder);
  made->lock = detail::folder_lock(folder);
  detail::translated(made->path, [&] {
    made->database = sqlite::connection(made->path, sqlite::access::create);
    made->database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (made->database.integer("SELECT count(*) FROM sqlite_master") == 0 &&
        made->database.integer("PRAGMA application_id") == 0) {
      made->database.execute(
          fmt::format("BEGIN; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;", bench_schema,
                      bench_application_id, bench_schema_version));
    }
    check_bench_file(made->database, made->path);
  });
  return bench_file(std::move(made));
}

bench_file bench_file::open_read_only(const std::string& folder) {
  auto made = std::make_shared<state>();
  made->path = folder + "/bench.sqlite";
  if (!fs::exists(made->path)) {
    throw error(error_code::input, "nothing was evaluated in this folder", {.file = folder, .key = {}},
                "run kevo bench without --report first");
  }
  detail::translated(made->path, [&] {
    made->database = sqlite::connection(made->path, sqlite::access::read);
    check_bench_file(made->database, made->path);
  });
  return bench_file(std::move(made));
}

void bench_file::append(const bench_row& row) {
  detail::translated(state_->path, [&] {
    auto put = state_->database.prepare(
        "INSERT INTO evaluations (key, finished_at, kevo_version, task, solution, task_id, round, evolved_in,"
        " program_id, program, outcome, speedup, speedup_low, speedup_high, device, protocol, evaluation)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const evaluation& e = row.result;
    put.run(row.key, row.finished_at, row.kevo_version, row.task, row.solution, row.task_id,
            static_cast<int>(row.round), row.evolved_in, to_string(id_of(row.program)),
            program_text(row.program), to_string(e.outcome), positive_or_null(e.speedup),
            positive_or_null(e.speedup_interval.low), positive_or_null(e.speedup_interval.high), e.device,
            e.protocol, to_json(e, {.exact = true}));
  });
}

std::optional<bench_row> bench_file::find(const std::string& key) const {
  return detail::translated(state_->path, [&]() -> std::optional<bench_row> {
    auto rows = state_->database.prepare(
        "SELECT key, finished_at, kevo_version, task, solution, task_id, round, evolved_in, program, "
        "evaluation"
        " FROM evaluations WHERE key = ? ORDER BY number DESC LIMIT 1");
    rows.bind_all(key);
    if (!rows.step()) return std::nullopt;
    bench_row one;
    one.key = rows.text(0);
    one.finished_at = rows.text(1);
    one.kevo_version = rows.text(2);
    one.task = rows.text(3);
    one.solution = rows.text(4);
    one.task_id = rows.text(5);
    one.round = static_cast<bench_round>(rows.integer(6));
    one.evolved_in = rows.text(7);
    one.program = program_from(rows.text(8));
    one.result = evaluation_from_json(rows.text(9));
    return one;
  });
}

const std::string& bench_file::path() const {
  return state_->path;
}

}  // namespace kevo
