// The committed corpus, through the fuzzers' own entry functions, in every build.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/fuzz/entry.hpp"

namespace {

template <class Entry>
std::size_t run_all(const std::string& name, const Entry& entry) {
  std::size_t count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(KEVO_SOURCE_DIR) + "/tests/fuzz/corpus/" + name)) {
    CAPTURE(file.path().string());
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    CHECK_NOTHROW(entry(text));
    CHECK_NOTHROW(entry(text.substr(0, text.size() / 2)));  // cut off anywhere is an input, too
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("every input of the corpus ends in success or in an error of the input") {
  CHECK(run_all("config", kevo::fuzzing::config) >= 5);
  CHECK(run_all("task", kevo::fuzzing::task) >= 5);
  CHECK(run_all("annotation", kevo::fuzzing::annotation) >= 5);
  CHECK(run_all("launch", kevo::fuzzing::launch) >= 5);
}
