// docs/journal.md is true: every query in it runs, and every table, view and column is described.
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include "tests/journal/random_run.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

std::string page() {
  std::ifstream in(KEVO_SOURCE_DIR "/docs/journal.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

struct database {
  explicit database(const std::string& path) {
    REQUIRE(sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  }
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  ~database() { sqlite3_close(raw); }
  /// The rows of a query, columns separated by '|'.
  std::vector<std::string> rows(const std::string& sql) const {
    std::vector<std::string> all;
    const auto take = [](void* out, int n, char** values, char**) {
      std::string row;
      for (int i = 0; i < n; ++i) row += std::string(values[i] ? values[i] : "NULL") + "|";
      static_cast<std::vector<std::string>*>(out)->push_back(row);
      return 0;
    };
    char* message = nullptr;
    const int code = sqlite3_exec(raw, sql.c_str(), take, &all, &message);
    INFO(sql, "\n", message ? message : "");
    CHECK(code == SQLITE_OK);
    sqlite3_free(message);
    return all;
  }
  sqlite3* raw = nullptr;
};

}  // namespace

TEST_CASE("every query of the page runs and finds something") {
  const scratch_folder folder;
  {
    auto record = kevo::journal::create(folder.path(), example_header());
    event_maker maker(7, false);
    for (int i = 0; i < 600; ++i) feed(record, maker.next());
    record.append_ledger({});
    record.close();
  }
  const database journal(folder / "journal.sqlite");
  const std::string text = page();
  int queries = 0;
  for (std::size_t at = text.find("```sql\n"); at != std::string::npos; at = text.find("```sql\n", at)) {
    at += 7;
    const std::size_t end = text.find("```", at);
    REQUIRE(end != std::string::npos);
    const std::string sql = text.substr(at, end - at);
    INFO(sql);
    CHECK_FALSE(journal.rows(sql).empty());
    ++queries;
  }
  CHECK(queries >= 10);
}

TEST_CASE("every table, view and column is described") {
  const scratch_folder folder;
  kevo::journal::create(folder.path(), example_header());
  const database journal(folder / "journal.sqlite");
  const std::string text = page();
  for (const auto& row :
       journal.rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
                    "'sqlite_%'")) {
    const std::string name = row.substr(0, row.size() - 1);
    INFO(name);
    CHECK((text.find("### " + name) != std::string::npos || text.find("and " + name) != std::string::npos ||
           text.find("`" + name + "`") != std::string::npos));
    for (const auto& column : journal.rows("SELECT name FROM pragma_table_info('" + name + "')")) {
      INFO(name, ".", column);
      CHECK(text.find(column.substr(0, column.size() - 1)) != std::string::npos);
    }
  }
}
