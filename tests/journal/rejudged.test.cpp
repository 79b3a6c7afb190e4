// RUN/rejudged.sqlite: what comes back, and what is not taken for it.

#include "src/journal/rejudged.hpp"

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/base/sqlite/sqlite.hpp"
#include "tests/support/shell.hpp"

using namespace kevo;

namespace {

rejudged_row row_of(const std::string& program, const std::string& protocol, double speedup) {
  rejudged_row one{.judged_at = "2026-01-01T00:00:00Z",
                   .kevo_version = "1.2.3",
                   .candidate = 7,
                   .program = program,
                   .rules = {"task", protocol, "device", "backend: cpu"},
                   .verdict = "slower",
                   .reason = "because"};
  one.result.outcome = outcome::valid;
  one.result.speedup = speedup;
  one.result.protocol = protocol;
  return one;
}

}  // namespace

TEST_CASE("rows come back, by program and rules, the latest of several") {
  const shell::scratch folder;
  CHECK(!rejudged_file::open_read_only(folder.string()));
  {
    auto file = rejudged_file::open(folder.string());
    file.append(row_of("a", "cpu 2", 1.5));
    file.append(row_of("a", "cpu 3", 1.25));
    file.append(row_of("a", "cpu 3", 1.125));
  }
  const auto file = rejudged_file::open_read_only(folder.string());
  REQUIRE(file);
  CHECK(file->rows().size() == 3);
  const auto found = file->find("a", {"task", "cpu 3", "device", "backend: cpu"});
  REQUIRE(found);
  CHECK(found->result.speedup == 1.125);
  CHECK(found->candidate == 7);
  CHECK(found->verdict == "slower");
  CHECK(found->reason == "because");
  CHECK(!file->find("b", {"task", "cpu 3", "device", "backend: cpu"}));
  CHECK(!file->find("a", {"task", "cpu 4", "device", "backend: cpu"}));
  CHECK(!file->find("a", {"task", "cpu 3", "device", "backend: cpu\nthreads: 2"}));
}

TEST_CASE("another database, and a view in the place of the table, are refused") {
  const shell::scratch folder;
  const std::string path = (folder / "rejudged.sqlite").string();
  const auto refused = [&] {
    try {
      rejudged_file::open(folder.string());
      return false;
    } catch (const error& wrong) {
      return wrong.code() == error_code::input && wrong.place().file == path;
    }
  };
  sqlite::connection(path, sqlite::access::create).execute("CREATE TABLE other (x)");
  CHECK(refused());
  std::filesystem::remove(path);
  rejudged_file::open(folder.string());
  sqlite::connection(path, sqlite::access::write)
      .execute(
          "DROP TABLE rejudged; CREATE VIEW rejudged AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i "
          "FROM n) SELECT i FROM n");
  CHECK(refused());
  std::filesystem::remove(path);
  shell::write_file(path,
                    "not a database at all, but long enough to be read as the header of one, which is 100 "
                    "bytes of a format that this is not");
  CHECK(refused());
}
