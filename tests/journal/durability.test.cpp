// timed
// What a kill or a full disk leaves behind. Child processes do the dying.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/journal/journal.hpp"
#include "tests/journal/random_run.hpp"
#include "tests/support/skip.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint64_t seed_of_run = 77;

/// Runs `work` in a child and gives its pid; the child never returns into the test.
template <class Work>
pid_t in_child(Work work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 3;
  try {
    status = work();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "child: %s\n", e.what());
  } catch (...) {  // a failed REQUIRE
    std::fprintf(stderr, "child: a check failed\n");
  }
  _exit(status);
}

int exit_status(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Continues the run of `maker` from where the journal in `directory` ends.
void skip_to(event_maker& maker, std::uint64_t sequence) {
  for (std::uint64_t i = 0; i < sequence; ++i) maker.next();
}

/// Writes events and says after each commit, on `out`, how far it is durable; never ends by itself.
int write_until_killed(const std::string& directory, int out) {
  auto record = kevo::journal::exists(directory) ? kevo::journal::open(directory)
                                                 : kevo::journal::create(directory, example_header());
  event_maker maker(seed_of_run, true);
  skip_to(maker, record.last_sequence());
  kevo::rng group(record.last_sequence());
  while (true) {
    for (std::uint64_t n = 1 + group.below(20); n > 0; --n) feed(record, maker.next());
    record.commit();
    const std::uint64_t durable = record.last_sequence();
    if (write(out, &durable, sizeof durable) != sizeof durable) return 1;
  }
}

/// How much of the run in `directory` is there; checks that it is a faithful prefix.
std::uint64_t check_prefix(const std::string& directory) {
  const auto record = kevo::journal::open_read_only(directory);
  event_maker maker(seed_of_run, true);
  std::uint64_t count = 0;
  const auto store = record.store();
  record.for_each_event([&](const kevo::event& e) {
    const auto expected = maker.next();
    ++count;
    REQUIRE(same(e, expected.what));
    if (expected.program) {
      const auto p = store.program_of(kevo::id_of(*expected.program));
      REQUIRE(p);
      REQUIRE(*p == *expected.program);
    }
  });
  CHECK(count == record.last_sequence());
  return count;
}

struct full_disk_report {
  bool environment = false;
  bool names_path = false;
  bool says_recorded = false;
  std::uint64_t last = 0;
};

/// Writes until the disk is full, then keeps what was consumed. The answer is of the error that came.
full_disk_report fill_up(kevo::journal& record, event_maker& maker) {
  full_disk_report report;
  for (int i = 0; i < 100000; ++i) {
    feed(record, maker.next());
    if (i % 5 != 4) continue;
    try {
      record.commit();
    } catch (const kevo::error& e) {
      const std::string what = e.what();
      report.environment = e.code() == kevo::error_code::environment;
      report.names_path = what.find("journal.sqlite") != std::string::npos &&
                          what.find("bytes were free") != std::string::npos &&
                          e.hint().find("kevo resume") != std::string::npos;
      report.says_recorded = what.find("all finished work is recorded") != std::string::npos;
      report.last = record.last_sequence();
      break;
    }
  }
  return report;
}

}  // namespace

TEST_CASE("a kill at any moment loses no committed event and leaves no gap") {
  const scratch_folder folder;
  const std::string run = folder / "run";
  std::filesystem::create_directories(run);
  kevo::rng random(static_cast<std::uint64_t>(getpid()));
  std::uint64_t durable = 0;
  int grew = 0;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = in_child([&] {
      close(ends[0]);
      return write_until_killed(run, ends[1]);
    });
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(round < 5 ? 10000 : 150000)));
    kill(child, SIGKILL);
    CHECK(exit_status(child) == 128 + SIGKILL);
    const std::uint64_t before = durable;
    for (std::uint64_t said = 0; read(ends[0], &said, sizeof said) == sizeof said;) durable = said;
    close(ends[0]);
    if (durable > before) ++grew;
    if (!kevo::journal::exists(run)) {
      CHECK(durable == 0);
      continue;
    }
    const std::uint64_t found = check_prefix(run);
    CHECK(found >= durable);
    durable = found;
  }
  MESSAGE("20 kills, ", durable, " events");
  if (grew == 0) {  // a machine so slow that no child came to its first commit proves nothing
    const pid_t child = in_child([&] {
      int ends[2];
      if (pipe(ends) != 0) return 1;
      std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(5)), raise(SIGKILL); }).detach();
      return write_until_killed(run, ends[1]);
    });
    exit_status(child);
    CHECK(check_prefix(run) > durable);
  }
}

TEST_CASE("readers of a run that is being written see consistent prefixes") {
  const scratch_folder folder;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = in_child([&] {
    close(ends[0]);
    return write_until_killed(folder.path(), ends[1]);
  });
  close(ends[1]);
  std::uint64_t durable = 0;
  REQUIRE(read(ends[0], &durable, sizeof durable) == sizeof durable);
  std::uint64_t seen = 0;
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t now = check_prefix(folder.path());
    CHECK(now >= seen);
    seen = now;
    CHECK_THROWS_AS(kevo::journal::open(folder.path()), kevo::error);  // it is locked
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  CHECK(exit_status(child) == 128 + SIGKILL);
  close(ends[0]);
  CHECK_NOTHROW(kevo::journal::open(folder.path()));  // the lock died with it
}

TEST_CASE("on a full disk the reserve pays for what was finished") {
  const scratch_folder folder;
  const std::string disk = folder / "disk";
  std::filesystem::create_directories(disk);
  constexpr int no_mount = 42;
  const pid_t child = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=6m") != 0) {
      std::fprintf(stderr, "no small disk to fill: %s\n", std::strerror(errno));
      return no_mount;
    }
    kevo::journal_options options;
    options.reserve_bytes = std::size_t{2} << 20U;
    const std::string run = disk + "/run";
    event_maker maker(seed_of_run, true);
    std::uint64_t last = 0;
    {
      auto record = kevo::journal::create(run, example_header(), options);
      if (!std::filesystem::exists(run + "/.reserve")) return 10;
      const auto report = fill_up(record, maker);
      last = report.last;
      if (!report.environment || !report.names_path) return 11;
      if (!report.says_recorded) return 12;
      if (record.uncommitted() != 0) return 13;
      if (std::filesystem::exists(run + "/.reserve")) return 14;
      // Results that were still out find room as long as the reserve's space lasts.
      for (int i = 0; i < 20; ++i) feed(record, maker.next());
      record.commit();
      last = record.last_sequence();
    }
    if (check_prefix(run) != last) return 15;
    // With room again, resuming makes a new reserve and goes on.
    if (mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=20m") != 0) return 16;
    {
      auto record = kevo::journal::open(run, options);
      if (!std::filesystem::exists(run + "/.reserve")) return 17;
      for (int i = 0; i < 20; ++i) feed(record, maker.next());
    }
    return check_prefix(run) == last + 20 ? 0 : 18;
  });
  const int status = exit_status(child);
  if (status == no_mount) {
    kevo_test::skip("this test needs to mount a tmpfs of its own");
  } else {
    CHECK(status == 0);
  }
}

TEST_CASE("what a disk refuses stays in memory and is written when it takes it again") {
  const scratch_folder folder;
  const pid_t child = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);  // writes beyond the limit then fail like on a full disk
    kevo::journal_options options;
    options.reserve_bytes = 4096;
    auto record = kevo::journal::create(folder.path(), example_header(), options);
    event_maker maker(seed_of_run, true);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{std::size_t{1} << 20U, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const auto report = fill_up(record, maker);
    if (!report.environment || !report.names_path) return 10;
    if (report.says_recorded) return 11;  // the limit is per file: the reserve cannot help
    if (record.uncommitted() == 0) return 12;
    feed(record, maker.next());
    bool refused = false;
    try {
      record.commit();
    } catch (const kevo::error&) {
      refused = true;
    }
    if (!refused) return 13;
    if (check_prefix(folder.path()) >= record.last_sequence()) return 14;
    setrlimit(RLIMIT_FSIZE, &limit);
    record.commit();
    return check_prefix(folder.path()) == record.last_sequence() ? 0 : 15;
  });
  CHECK(exit_status(child) == 0);
}

TEST_CASE("a run does not begin or go on where there is no room for its reserve") {
  const scratch_folder folder;
  const pid_t child = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      kevo::journal::create(folder.path(), example_header());
    } catch (const kevo::error& e) {
      return e.code() == kevo::error_code::environment && !std::filesystem::exists(folder / ".reserve") ? 0
                                                                                                        : 11;
    }
    return 10;
  });
  CHECK(exit_status(child) == 0);
}

TEST_CASE(
    "a run can be opened at once after a kill, though a child of the dead process lives on for a moment") {
  const scratch_folder folder;
  const pid_t victim = ::fork();
  if (victim == 0) {
    const auto record = kevo::journal::create(folder.path(), example_header());
    if (::fork() == 0) {  // not a program of its own yet: it holds what its parent had open
      ::usleep(400'000);
      ::_exit(0);
    }
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(victim, &status, 0) == victim);
  REQUIRE(WIFSIGNALED(status));
  CHECK_NOTHROW(kevo::journal::open(folder.path()));

  // A process that lives is not waited for.
  const auto mine = kevo::journal::open(folder.path());
  const auto began = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(kevo::journal::open(folder.path()), kevo::error);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(1));
}
