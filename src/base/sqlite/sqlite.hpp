#pragma once
// A thin layer over SQLite's C interface: connections and prepared statements that throw. sqlite3.h
// stays out of headers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

struct sqlite3;
struct sqlite3_stmt;

namespace kevo::sqlite {

/// What SQLite answered. `code` is the extended result code.
class failure : public std::runtime_error {
 public:
  failure(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const noexcept { return code_; }
  /// The disk (or quota) is full, or the disk failed.
  bool no_space() const noexcept;
  /// The file is not a database, or is damaged.
  bool damaged() const noexcept;
  /// A value is longer than any that kevo writes.
  bool too_big() const noexcept;
  /// The database has not the tables and columns that were asked for, or forbids to use them.
  bool wrong_shape() const noexcept;
  /// Another process holds a lock.
  bool busy() const noexcept;

 private:
  int code_;
};

/// A prepared statement. `run` binds from 1, steps once and resets; texts are only borrowed for the call.
class statement {
 public:
  statement() = default;
  statement(sqlite3* database, std::string_view sql);

  template <class... Values>
  void run(const Values&... values) {
    bind_all(values...);
    const guard done{this};
    step();
  }
  template <class... Values>
  void bind_all(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
  }

  void bind(int index, std::nullptr_t);
  void bind(int index, double value);  ///< NaN is stored as NULL
  void bind(int index, std::string_view value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  template <class T>
  requires std::is_integral_v<T>
  void bind(int index, T value) { bind_integer(index, static_cast<std::int64_t>(value)); }
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, nullptr);
    }
  }

  /// True if there is a row.
  bool step();
  void reset() noexcept;
  int columns() const;
  std::string name(int column) const;
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  /// NULL reads as NaN.
  double real(int column) const;
  std::string text(int column) const;

 private:
  struct guard {
    statement* owner;
    ~guard() { owner->reset(); }
  };
  struct finalizer {
    void operator()(sqlite3_stmt* s) const noexcept;
  };
  void bind_integer(int index, std::int64_t value);
  [[noreturn]] void fail(int code) const;
  std::unique_ptr<sqlite3_stmt, finalizer> statement_;
};

/// Resets a statement at the end of its scope, so that it can be used again and holds no lock.
class statement_reset {
 public:
  explicit statement_reset(statement& used) : used_(used) {}
  statement_reset(const statement_reset&) = delete;
  statement_reset& operator=(const statement_reset&) = delete;
  ~statement_reset() { used_.reset(); }

 private:
  statement& used_;
};

enum class access { read, write, create };

/// A connection. Not thread-safe: whoever shares one locks around it. It must outlive its statements' use.
class connection {
 public:
  connection() = default;
  /// An empty path is a database of its own in memory. The file is not trusted: views and triggers that it
  /// brings are not run.
  connection(const std::string& path, access mode);

  void execute(const std::string& sql);
  statement prepare(std::string_view sql) { return {database_.get(), sql}; }
  /// The first column of the first row; 0 without one.
  std::int64_t integer(std::string_view sql);
  /// Rows changed by the latest statement, and the number of the row inserted last.
  int changes() const;
  std::int64_t last_row() const;
  /// Whether a transaction is open.
  bool in_transaction() const;
  void close() noexcept { database_.reset(); }
  explicit operator bool() const { return database_ != nullptr; }

 private:
  struct closer {
    void operator()(sqlite3* database) const noexcept;
  };
  std::unique_ptr<sqlite3, closer> database_;
};

}  // namespace kevo::sqlite
