#include "src/journal/database_file.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>
#include <kevo/version.hpp>

#include "src/journal/run_folder.hpp"
#include "src/journal/schema.hpp"

namespace kevo::detail {

std::string database_path(const std::string& directory) {
  return directory + "/journal.sqlite";
}

std::string program_version() {
  return fmt::format("{}.{}.{}", KEVO_VERSION_MAJOR, KEVO_VERSION_MINOR, KEVO_VERSION_PATCH);
}

error as_error(const sqlite::failure& failure, const std::string& path) {
  const error_place place{.file = path, .key = {}};
  if (failure.damaged()) {
    return {error_code::input, std::string("the file is damaged or is not a kevo journal: ") + failure.what(),
            place, "`sqlite3 FILE .recover` may recover part of the data"};
  }
  if (failure.too_big() || failure.wrong_shape()) {
    return {error_code::input, std::string("the file is not a valid kevo journal: ") + failure.what(), place,
            "it was changed by another program, or it is not a journal"};
  }
  if (failure.no_space()) {
    return {error_code::environment, fmt::format("{}; {} bytes are free", failure.what(), free_bytes(path)),
            place, "check the disk"};
  }
  if (failure.busy()) {
    return {error_code::environment, "the database is locked by another program", place,
            "close other programs that write to it, for example `sqlite3`"};
  }
  return {error_code::environment, failure.what(), place};
}

error as_unreadable(const std::exception& broken, const std::string& path) {
  return {error_code::input,
          std::string("the journal contains data that cannot be read: ") + broken.what(),
          {.file = path, .key = {}},
          "the journal is damaged, or was not written by kevo"};
}

namespace {

// The tables that kevo reads and writes.
constexpr std::string_view tables[] = {"header",     "sessions",      "operator_names", "events",
                                       "programs",   "program_files", "candidates",     "edges",
                                       "variations", "evaluations",   "model_calls",    "ledger"};

// What bears the name of a table could be a view that never ends, a table of a module, or one whose columns
// are computed as they are read.
void require_plain_tables(sqlite::connection& database, const error_place& place) {
  const auto refuse = [&](const std::string& what) {
    throw error(error_code::input, "the file is not a valid kevo journal: " + what, place,
                "it was created or changed by another program; do not trust it");
  };
  auto objects = database.prepare("SELECT name, type, coalesce(sql, '') FROM sqlite_master");
  while (objects.step()) {
    const std::string name = objects.text(0);
    const std::string sql = objects.text(2);
    if (sql.starts_with("CREATE VIRTUAL")) refuse("'" + detail::shown(name) + "' is a virtual table");
    if (std::find(std::begin(tables), std::end(tables), name) == std::end(tables)) continue;
    if (objects.text(1) != "table")
      refuse("'" + name + "' is a " + detail::shown(objects.text(1)) + ", not a table");
  }
  for (const auto table : tables) {
    auto columns = database.prepare(fmt::format("PRAGMA table_xinfo({})", table));
    constexpr int hidden = 6;
    while (columns.step()) {
      if (columns.integer(hidden) != 0) refuse(fmt::format("'{}' has a computed column", table));
    }
  }
}

}  // namespace

bool has_header(sqlite::connection& database) {
  return database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'header'") > 0;
}

void check_version(sqlite::connection& database, const std::string& path) {
  const error_place place{.file = path, .key = {}};
  if (!has_header(database)) {
    throw error(error_code::input, "the journal contains no run: its creation was interrupted", place,
                "start a new run with `kevo run`");
  }
  if (database.integer("PRAGMA application_id") != journal_application_id) {
    throw error(error_code::input, "the file is a database, but not a kevo journal", place,
                "name the folder of a run of kevo");
  }
  const auto version = database.integer("PRAGMA user_version");
  if (version <= journal_schema_version) return require_plain_tables(database, place);
  auto writer = database.prepare("SELECT value FROM header WHERE key = 'kevo_version'");
  const std::string by = writer.step() ? writer.text(0) : "a newer kevo";
  throw error(
      error_code::input,
      fmt::format(
          "the journal was written by kevo {1} with schema {0}; this kevo ({2}) supports schemas up to {3}",
          version, by, program_version(), journal_schema_version),
      place, "use a newer version of kevo");
}

void write_header(sqlite::connection& database, const journal_header& h) {
  auto put = database.prepare("INSERT INTO header VALUES (?, ?)");
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  put.run(std::string_view("schema_version"), std::to_string(journal_schema_version));
  put.run(std::string_view("created_at"), fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now)));
  put.run(std::string_view("run_name"), h.run_name);
  put.run(std::string_view("kevo_version"), h.kevo_version);
  put.run(std::string_view("config"), h.config_yaml);
  put.run(std::string_view("config_path"), h.config_path);
  put.run(std::string_view("task_path"), h.task_path);
  put.run(std::string_view("task"), h.task_json_or_text);
  put.run(std::string_view("task_id"), h.task_id);
  put.run(std::string_view("seed"), std::to_string(h.seed));
  for (const auto& [key, value] : h.more) put.run("more." + key, value);
  auto name = database.prepare("INSERT INTO operator_names VALUES (?, ?)");
  for (std::size_t i = 0; i < h.operators.size(); ++i) name.run(i, h.operators[i]);
}

namespace {
std::uint64_t seed_of(const std::string& text, const std::string& path) {
  std::uint64_t seed = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (failure == std::errc() && end == text.data() + text.size() && !text.empty()) return seed;
  throw error(error_code::input,
              "the seed in the journal header, '" + detail::shown(text) + "', is not a number",
              {.file = path, .key = {}}, "the journal is damaged, or was not written by kevo");
}
}  // namespace

journal_header read_header(sqlite::connection& database, const std::string& path) {
  journal_header h;
  const std::map<std::string, std::string*, std::less<>> fields = {
      {"run_name", &h.run_name},       {"kevo_version", &h.kevo_version}, {"config", &h.config_yaml},
      {"config_path", &h.config_path}, {"task_path", &h.task_path},       {"task", &h.task_json_or_text},
      {"task_id", &h.task_id}};
  auto rows = database.prepare("SELECT key, value FROM header");
  while (rows.step()) {
    const std::string key = rows.text(0);
    if (const auto field = fields.find(key); field != fields.end()) *field->second = rows.text(1);
    if (key == "seed") h.seed = seed_of(rows.text(1), path);
    if (key.starts_with("more.")) h.more[key.substr(5)] = rows.text(1);
  }
  auto names = database.prepare("SELECT name FROM operator_names ORDER BY number");
  while (names.step()) h.operators.push_back(names.text(0));
  return h;
}

sqlite::statement select_program(sqlite::connection& database) {
  return database.prepare(
      "SELECT p.language, f.path, f.text FROM programs p LEFT JOIN program_files f ON f.program = p.number"
      " WHERE p.id = ? ORDER BY f.position");
}

std::shared_ptr<const program> read_program(sqlite::statement& rows, const content_id& id) {
  const std::string name = to_string(id);
  rows.bind_all(name);
  const sqlite::statement_reset done(rows);
  auto found = std::make_shared<program>();
  bool any = false;
  while (rows.step()) {
    any = true;
    found->language = rows.text(0);
    if (!rows.is_null(1)) found->files.push_back({rows.text(1), rows.text(2)});
  }
  if (!any) return nullptr;
  return found;
}

}  // namespace kevo::detail
