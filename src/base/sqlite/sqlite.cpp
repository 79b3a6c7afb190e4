#include "src/base/sqlite/sqlite.hpp"

#include <filesystem>
#include <limits>
#include <utility>

#include <sqlite3.h>

namespace kevo::sqlite {
namespace {

// sqlite3_open_v2 takes a URI so that a reader may say `immutable`; a path may hold any character.
std::string as_uri(const std::string& path, bool immutable) {
  if (path.empty()) return "file::memory:";
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || c == '/' || c == '.' || c == '-' || c == '_';
    if (plain) {
      uri += c;
    } else {
      uri += '%';
      uri += digits[byte >> 4U];
      uri += digits[byte & 15U];
    }
  }
  if (immutable) uri += "?immutable=1";
  return uri;
}

sqlite3* open(const std::string& uri, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  if (code != SQLITE_OK) {
    const std::string message = raw != nullptr ? sqlite3_errmsg(raw) : "out of memory";
    const int extended = raw != nullptr ? sqlite3_extended_errcode(raw) : code;
    sqlite3_close_v2(raw);
    throw failure(extended, message);
  }
  sqlite3_extended_result_codes(raw, 1);
  return raw;
}

// A journal may be somebody else's. Of a database's own program nothing is run: no views in the place of
// tables (they may never end), no triggers, no functions that reach out; and no value is longer than a run's
// could be.
void harden(sqlite3* database) {
  constexpr int longest_value = 256 << 20;
  for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                      {SQLITE_DBCONFIG_ENABLE_VIEW, 0}}) {
    sqlite3_db_config(database, option, value, nullptr);
  }
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_exec(database, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
}

}  // namespace

bool failure::no_space() const noexcept {
  const int primary = code_ & 0xff;
  return primary == SQLITE_FULL || primary == SQLITE_IOERR;
}
bool failure::damaged() const noexcept {
  const int primary = code_ & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}
bool failure::too_big() const noexcept {
  return (code_ & 0xff) == SQLITE_TOOBIG;
}
bool failure::wrong_shape() const noexcept {
  return (code_ & 0xff) == SQLITE_ERROR;
}
bool failure::busy() const noexcept {
  const int primary = code_ & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
}

statement::statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) throw failure(code, sqlite3_errmsg(database));
  statement_.reset(raw);
}

void statement::fail(int code) const {
  throw failure(code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

void statement::bind(int index, std::nullptr_t) {
  if (const int code = sqlite3_bind_null(statement_.get(), index); code != SQLITE_OK) fail(code);
}
void statement::bind(int index, double value) {
  if (const int code = sqlite3_bind_double(statement_.get(), index, value); code != SQLITE_OK) fail(code);
}
void statement::bind(int index, std::string_view value) {
  // SQLite reads a null pointer as NULL.
  const char* data = value.data() != nullptr ? value.data() : "";
  const int code =
      sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) fail(code);
}
void statement::bind_integer(int index, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_.get(), index, value); code != SQLITE_OK) fail(code);
}

bool statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(code);
}
void statement::reset() noexcept {
  if (statement_) sqlite3_reset(statement_.get());
}
int statement::columns() const {
  return sqlite3_column_count(statement_.get());
}
std::string statement::name(int column) const {
  return sqlite3_column_name(statement_.get(), column);
}
bool statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
std::int64_t statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double statement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(statement_.get(), column);
}
std::string statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
void statement::finalizer::operator()(sqlite3_stmt* s) const noexcept {
  sqlite3_finalize(s);
}

connection::connection(const std::string& path, access mode) {
  const int flags = mode == access::read    ? SQLITE_OPEN_READONLY
                    : mode == access::write ? SQLITE_OPEN_READWRITE
                                            : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  database_.reset(open(as_uri(path, false), flags));
  harden(database_.get());
  sqlite3_busy_timeout(database_.get(), 5000);
  if (mode == access::read) {
    try {
      integer("PRAGMA schema_version");
    } catch (const failure&) {
      // A folder that may not be written has no room for the wal-index; without a log there is nothing that
      // the index could say.
      if (std::filesystem::exists(path + "-wal")) throw;
      database_.reset(open(as_uri(path, true), flags));
      harden(database_.get());
    }
  }
}

void connection::execute(const std::string& sql) {
  char* raw = nullptr;
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, &raw);
  if (code == SQLITE_OK) return;
  const std::string message = raw != nullptr ? raw : sqlite3_errmsg(database_.get());
  sqlite3_free(raw);
  throw failure(code, message);
}

std::int64_t connection::integer(std::string_view sql) {
  auto query = prepare(sql);
  return query.step() ? query.integer(0) : 0;
}

int connection::changes() const {
  return sqlite3_changes(database_.get());
}
std::int64_t connection::last_row() const {
  return sqlite3_last_insert_rowid(database_.get());
}
bool connection::in_transaction() const {
  return sqlite3_get_autocommit(database_.get()) == 0;
}

void connection::closer::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

}  // namespace kevo::sqlite
