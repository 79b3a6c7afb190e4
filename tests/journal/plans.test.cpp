// How SQLite answers the journal's queries: through an index wherever a table grows with the run. And
// journals of earlier versions, which lack indexes.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <kevo/error.hpp>

#include "src/journal/rejudged.hpp"
#include "tests/journal/random_run.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

/// The texts of all statements that any connection of this program has run.
std::set<std::string>& statements_run() {
  static std::set<std::string> all;
  return all;
}

extern "C" int note_statement(unsigned, void*, void* statement, void*) {
  if (const char* sql = sqlite3_sql(static_cast<sqlite3_stmt*>(statement)); sql != nullptr)
    statements_run().insert(sql);
  return 0;
}
extern "C" int trace_connection(sqlite3* database, char**, const void*) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, note_statement, nullptr);
}

/// Collects statements while it lives.
struct tracing {
  tracing() {
    statements_run().clear();
    // SQLite's own documentation casts extension entry points in this way.
    REQUIRE(sqlite3_auto_extension(reinterpret_cast<void (*)()>(trace_connection)) == SQLITE_OK);
  }
  tracing(const tracing&) = delete;
  tracing& operator=(const tracing&) = delete;
  ~tracing() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(trace_connection)); }
};

/// Runs `sql` on the file and gives the last column of each row.
std::vector<std::string> last_column(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
  std::vector<std::string> all;
  const auto take = [](void* out, int n, char** values, char**) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(values[n - 1] != nullptr ? values[n - 1] : "");
    return 0;
  };
  char* message = nullptr;
  const int code = sqlite3_exec(database, sql.c_str(), take, &all, &message);
  INFO(sql, "\n", message != nullptr ? message : "");
  CHECK(code == SQLITE_OK);
  sqlite3_free(message);
  sqlite3_close(database);
  return all;
}

/// A journal with every kind of row, of which a second process writes a part.
void write_journal(const std::string& folder) {
  event_maker maker(4, true);
  {
    auto record = kevo::journal::create(folder, example_header());
    for (int i = 0; i < 300; ++i) feed(record, maker.next());
    record.append_ledger({});
    kevo::model_call call;
    call.request_key = "key";
    call.money = 0.5;
    record.append_model_call(1, 0.0, call);
  }
  auto record = kevo::journal::open(folder);
  for (int i = 0; i < 300; ++i) feed(record, maker.next());
  record.close();
}

/// Calls everything that reads a journal.
void read_journal(const std::string& folder) {
  CHECK(kevo::journal::exists(folder));
  auto record = kevo::journal::open_read_only(folder);
  CHECK(record.last_sequence() == 600);
  CHECK(record.sessions().size() == 2);
  std::size_t events = 0;
  record.for_each_event([&events](const kevo::event&) { ++events; });
  CHECK(events == 600);
  CHECK(record.candidates().size() == record.candidate_count());
  REQUIRE(record.candidate_count() > 3);
  REQUIRE(record.candidate(2));
  CHECK(record.source(record.candidate(2)->program));
  CHECK(record.lineage(2).size() > 1);
  const auto evaluations = record.evaluations();
  REQUIRE(!evaluations.empty());
  CHECK(record.evaluations(evaluations[0].candidate).size() > 0);
  CHECK(record.store().evaluation_of(evaluations[0].candidate));
  CHECK(record.best());
  record.model_calls(kevo::candidate_id{1});
  CHECK(record.model_calls(std::vector<std::int64_t>{1}).size() == 1);
  std::size_t calls = 0;
  record.for_each_model_call([&calls](kevo::ticket, std::int64_t) { ++calls; });
  CHECK(calls == 1);
  CHECK(record.model_spending() == 0.5);
  CHECK(record.model_call_keys() == std::vector<std::string>{"key"});
  record.refresh();

  // Without a champion the best is found in another way.
  const std::string other = folder + "/other";
  {
    auto plain = kevo::journal::create(other, example_header());
    event_maker maker(4, false);
    for (int i = 0; i < 300; ++i) feed(plain, maker.next());
  }
  CHECK(kevo::journal::open_read_only(other).best());
}

void write_and_read_rejudged(const std::string& folder) {
  auto file = kevo::rejudged_file::open(folder);
  kevo::rejudged_row row;
  row.program = "a";
  file.append(row);
  const auto again = kevo::rejudged_file::open_read_only(folder);
  REQUIRE(again);
  CHECK(again->rows().size() == 1);
  CHECK(again->find("a", {}));
}

/// Tables with a row for each step of a run. The others have a row for each process, operator or setting.
bool grows(const std::string& table_or_alias) {
  static const std::set<std::string> tables = {
      "events",     "e", "programs",    "p", "program_files", "f", "candidates", "c",       "edges",
      "variations", "v", "evaluations", "x", "model_calls",   "m", "ledger",     "rejudged"};
  return tables.contains(table_or_alias);
}

/// Versions of SQLite differ in whether they call an index covering.
std::string alike(std::string step) {
  const std::string word = "COVERING ";
  if (const auto at = step.find(word); at != std::string::npos) step.erase(at, word.size());
  return step;
}

/// The steps of the plan of `sql` that read a whole table that grows, or sort or index what they read.
std::vector<std::string> costly_steps(const std::string& path, const std::string& sql) {
  std::vector<std::string> found;
  for (const auto& step : last_column(path, "EXPLAIN QUERY PLAN " + sql)) {
    const bool scans = step.starts_with("SCAN ") && grows(step.substr(5, step.find(' ', 5) - 5));
    if (scans || step.find("AUTOMATIC") != std::string::npos || step.find("TEMP B-TREE") != std::string::npos)
      found.push_back(alike(step));
  }
  return found;
}

/// Statements that have to read every row, or that stop at the first one: the beginning of each, the steps of
/// its plan that this allows, and why.
struct allowed_statement {
  std::string begins;
  std::vector<std::string> steps;
  std::string reason;
};
const std::vector<allowed_statement>& allowed() {
  static const std::vector<allowed_statement> all = {
      {"SELECT e.sequence, e.time_s, e.kind, e.job, e.candidate, e.program, e.detail,",
       {"SCAN e"},
       "a replay reads every event in order"},
      {"SELECT sequence FROM evaluations WHERE candidate IS NOT NULL ORDER BY +sequence",
       {"USE TEMP B-TREE FOR ORDER BY"},
       "lists all evaluations, from the index alone, and sorts the numbers"},
      {"SELECT job, number FROM model_calls ORDER BY +number",
       {"SCAN model_calls USING INDEX model_calls_by_job", "USE TEMP B-TREE FOR ORDER BY"},
       "lists all calls, from the index alone, and sorts the numbers"},
      {"SELECT m.operator, m.model, m.group_id,",
       {"USE TEMP B-TREE FOR ORDER BY"},
       "sorts the calls of one variation"},
      {"SELECT coalesce(sum(money), 0) FROM model_calls",
       {"SCAN model_calls USING INDEX model_calls_by_job"},
       "adds up all calls, from the index alone"},
      {"SELECT request_key FROM model_calls WHERE request_key IS NOT NULL",
       {"SCAN model_calls USING INDEX model_calls_by_job"},
       "lists all keys, from the index alone"},
      {"SELECT count(*) FROM candidates",
       {"SCAN candidates"},
       "the highest number may be any number in a journal that somebody has changed"},
      {"SELECT time_s FROM events ORDER BY sequence DESC LIMIT 1",
       {"SCAN events"},
       "goes back from the last row and stops at the first that it sees"},
      {"SELECT candidate FROM events WHERE kind = 'champion_crowned' ORDER BY sequence DESC LIMIT 1",
       {"SCAN events USING INDEX champions_by_sequence"},
       "goes back from the last champion and stops at the first that it sees"},
      {"SELECT e.candidate FROM evaluations e WHERE e.outcome = 'valid'",
       {"SCAN e USING INDEX valid_evaluations_by_score"},
       "begins at the highest score and stops at the first that is its candidate's latest"},
      {"SELECT judged_at, kevo_version, candidate, program, task_id, protocol, device, fitness, verdict, "
       "reason, "
       "evaluation FROM rejudged ORDER BY number",
       {"SCAN rejudged"},
       "all verdicts are shown"}};
  return all;
}

const allowed_statement* allowance_of(const std::string& sql) {
  const auto found = std::find_if(allowed().begin(), allowed().end(),
                                  [&](const allowed_statement& one) { return sql.starts_with(one.begins); });
  return found == allowed().end() ? nullptr : &*found;
}

/// The texts in quotes of kevo's sources that begin a query, up to a place that is filled in.
std::vector<std::string> queries_in_sources() {
  std::vector<std::string> found;
  for (const char* folder : {"include", "src", "fitness", "operators"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(KEVO_SOURCE_DIR "/") + folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      const auto name = entry.path().filename();
      // An index of texts, the results of a suite, and the store of the evaluation service are no journals.
      if (name == "knowledge.cpp" || name == "bench_file.cpp") continue;
      if (entry.path().parent_path().filename() == "serve") continue;
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      for (std::size_t at = text.find("\"SELECT "); at != std::string::npos;
           at = text.find("\"SELECT ", at + 1)) {
        const std::string piece = text.substr(at + 1, text.find('"', at + 1) - at - 1);
        found.push_back(piece.substr(0, piece.find('{')));
      }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("no query of the journal reads the whole of a table that grows, but for those that have to") {
  const scratch_folder folder;
  const tracing here;
  write_journal(folder.path());
  read_journal(folder.path());
  write_and_read_rejudged(folder.path());
  last_column(folder / "other/journal.sqlite", "PRAGMA user_version = 99");
  CHECK_THROWS_AS(kevo::journal::open_read_only(folder / "other"), kevo::error);  // of a newer kevo
  const std::set<std::string> run = statements_run();

  std::set<std::string> used;
  for (const std::string& sql : run) {
    const std::string file = sql.find("rejudged") != std::string::npos ? "rejudged.sqlite" : "journal.sqlite";
    if (!sql.starts_with("SELECT") && !sql.starts_with("INSERT")) continue;
    const auto* allowance = allowance_of(sql);
    for (const std::string& step : costly_steps(folder / file, sql)) {
      INFO(sql, "\n", step);
      REQUIRE(allowance != nullptr);
      CHECK(std::find(allowance->steps.begin(), allowance->steps.end(), step) != allowance->steps.end());
      used.insert(allowance->begins);
    }
  }
  for (const auto& one : allowed()) {
    INFO("allowed without need: ", one.begins, " (", one.reason, ")");
    CHECK(used.contains(one.begins));
  }
  for (const std::string& piece : queries_in_sources()) {
    INFO("a query that this test does not run: ", piece);
    CHECK(std::any_of(run.begin(), run.end(),
                      [&](const std::string& sql) { return sql.find(piece) != std::string::npos; }));
  }
}

TEST_CASE("a journal without indexes is read as it is, and has them once it was opened for writing") {
  const scratch_folder folder;
  write_journal(folder.path());
  const std::string file = folder / "journal.sqlite";
  const std::string list =
      "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name";
  const auto indexes = last_column(file, list);
  REQUIRE(indexes.size() == 6);
  for (const auto& name : indexes) last_column(file, "DROP INDEX " + name);
  REQUIRE(last_column(file, list).empty());
  read_journal(folder.path());
  CHECK(last_column(file, list).empty());
  kevo::journal::open(folder.path());
  CHECK(last_column(file, list) == indexes);
}
