// What a verb prints arrives, or the exit code says that it did not.

#include <doctest/doctest.h>

#include "tests/journal/random_run.hpp"
#include "tests/support/shell.hpp"

namespace {

/// The run is as long as it takes to overflow the buffers of standard output.
struct recorded_run {
  shell::scratch folder;
  explicit recorded_run(int events) {
    auto record = kevo::journal::create((folder / "run").string(), kevo_test::example_header());
    kevo_test::event_maker maker(8, false);
    for (int i = 0; i < events; ++i) kevo_test::feed(record, maker.next());
  }
  shell::result sh(const std::string& line) const {
    return shell::run({"/bin/sh", "-c", line}, folder.string());
  }
};

const std::string program = KEVO_BINARY_DIR "/kevo ";

}  // namespace

TEST_CASE(
    "a full standard output is an error of the environment, whatever the verb and however much it prints") {
  for (const int events : {20, 2000}) {
    const recorded_run made(events);
    for (const std::string words : {"export run", "export run --format jsonl", "show run", "show run --json",
                                    "show run 0 --source", "version", "--help"}) {
      const auto ended = made.sh(program + words + " > /dev/full");
      INFO(words, ": ", ended.err);
      CHECK(ended.code == 1);
      CHECK(ended.err.find("standard output: No space left on device") != std::string::npos);
      CHECK(ended.err.find("bug") == std::string::npos);
    }
  }
  const recorded_run made(20);
  CHECK(made.sh(program + "version >&-").err.find("standard output: Bad file descriptor") !=
        std::string::npos);
  // Another error keeps its own exit code.
  CHECK(made.sh(program + "show nowhere --json > /dev/full").code == 2);
}

TEST_CASE("a reader that has had enough is no error") {
  const recorded_run made(2000);
  for (const std::string words : {"export run", "export run --format jsonl", "show run --json"}) {
    const auto ended = made.sh("(" + program + words + "; echo $? > code) | head -c 1");
    CHECK(ended.out.size() == 1);
    CHECK_MESSAGE(ended.err.empty(), ended.err);
    // The same where whoever started kevo ignores the signal.
    const auto ignored = made.sh("trap '' PIPE; (" + program + words + "; echo $? > code) | head -c 1");
    CHECK_MESSAGE(ignored.err.empty(), ignored.err);
    CHECK(shell::read_file(made.folder / "code") == "0\n");
  }
}

TEST_CASE("nobody has to read what is said on standard error") {
  const recorded_run made(20);
  for (const std::string where : {"2>/dev/full", "2>&-", "<&- 2>&-", "2>&1 >/dev/null | true"}) {
    const auto ended = made.sh("(" + program + "show nowhere; echo $? > code) " + where);
    CHECK_MESSAGE(shell::read_file(made.folder / "code") == "2\n", where);
  }
}

TEST_CASE("no file that kevo opens becomes standard output, where that is closed") {
  const recorded_run made(20);
  CHECK(made.sh(program + "init mine >&- 2>&-").code == 1);  // it cannot say what it has made
  const auto run = made.sh(program +
                           "run mine/config.yaml --set run.output=closed --set run.finish=0 "
                           "--set 'stop={evaluations: 1}' <&- >&- 2>&-");
  CHECK(run.code == 1);
  CHECK(made.sh(program + "show closed").code == 0);
  const auto lock = shell::read_file(made.folder / "closed/.lock");
  CHECK_MESSAGE(lock.find_first_not_of("0123456789\n") == std::string::npos, lock);
}

TEST_CASE("a limit on the size of files is a failed write, and no signal") {
  const recorded_run made(20);
  const auto ended = made.sh("ulimit -f 0; " + program + "export run --format jsonl --output lines");
  CHECK_MESSAGE(ended.code == 1, ended.err);
}
