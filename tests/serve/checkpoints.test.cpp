// The log of the service's record is copied to its file beside the requests, and what was committed is there.

#include "src/serve/checkpoints.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "src/serve/store.hpp"
#include "tests/support/shell.hpp"

namespace {

template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

TEST_CASE("many commits are copied to the file while the record is in use, and reach the next server") {
  const shell::scratch folder;
  const std::string file = (folder / "service.sqlite").string();
  const std::string payload(2000, 'x');
  constexpr int jobs = 600;
  {
    kevo::serve::store record(folder.string());
    const auto before = std::filesystem::file_size(file);
    for (int i = 0; i < jobs; ++i) {
      kevo::serve::job one;
      one.key = std::to_string(i);
      one.payload = payload;
      record.put(one);
    }
    // SQLite itself would copy the log at 32768 pages of 4096 bytes, which is far more than this.
    CHECK(std::filesystem::file_size(file + "-wal") < 32768ULL * 4096 / 2);
    CHECK(comes_true([&] { return std::filesystem::file_size(file) >= before + 200 * payload.size(); }));
    CHECK(record.find_job("0")->payload == payload);
    record.begin("1", 5);  // it goes on
    CHECK(record.find_job("1")->starts == 1);
  }
  kevo::serve::store again(folder.string());
  CHECK(again.unfinished().size() == jobs);
}

TEST_CASE("a log that cannot be copied disturbs nobody") {
  const shell::scratch folder;
  kevo::serve::checkpoints none("", 1);
  none.note_commit();
  kevo::serve::checkpoints nowhere((folder / "no/such/file").string(), 2);
  for (int i = 0; i < 10; ++i) nowhere.note_commit();
  shell::write_file(folder / "other", "not a database, but longer than nothing");
  kevo::serve::checkpoints other((folder / "other").string(), 1);
  other.note_commit();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(none.made() == 0);
  CHECK(nowhere.made() == 0);
  CHECK(other.made() == 0);
}
