// The committed corpora, through the fuzzers' own entry functions, in every build: the inputs that were
// written by hand, and those that ten minutes of fuzzing each found worth keeping (grown.tar.gz).
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/fuzz/entry.hpp"
#include "tests/support/shell.hpp"

namespace {

template <class Entry>
std::size_t run_all(const std::filesystem::path& folder, const Entry& entry) {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    CAPTURE(file.path().string());
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    CHECK_NOTHROW(entry(text));
    CHECK_NOTHROW(entry(text.substr(0, text.size() / 2)));  // cut off anywhere is an input, too
    ++count;
  }
  return count;
}

void run_corpora(const std::filesystem::path& root, std::size_t at_least) {
  CHECK(run_all(root / "config", kevo::fuzzing::config) >= at_least);
  CHECK(run_all(root / "task", kevo::fuzzing::task) >= at_least);
  CHECK(run_all(root / "annotation", kevo::fuzzing::annotation) >= at_least);
  CHECK(run_all(root / "launch", kevo::fuzzing::launch) >= at_least);
}

}  // namespace

TEST_CASE("every input of the corpus ends in success or in an error of the input") {
  run_corpora(KEVO_SOURCE_DIR "/tests/fuzz/corpus", 5);
  CHECK(run_all(KEVO_SOURCE_DIR "/tests/fuzz/corpus/tensor_file", kevo::fuzzing::tensor_file) >= 8);
}

TEST_CASE("so does what fuzzing found") {
  const shell::scratch folder;
  const auto unpacked =
      shell::run({"/bin/tar", "-xzf", KEVO_SOURCE_DIR "/tests/fuzz/grown.tar.gz", "-C", folder.string()});
  REQUIRE_MESSAGE(unpacked.code == 0, unpacked.err);
  run_corpora(folder.string(), 100);
}
