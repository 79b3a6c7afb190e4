// timed
// What is said of neighbours, and that they take turns.
#include "fitness/machine/neighbours.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/machine/cores.hpp"
#include "tests/support/skip.hpp"

namespace {

/// A lock that this process alone uses: its number is of no processor, and of no other process. Its files are
/// removed at the end, so that nothing of a former process is in them.
struct lock_of_this_process {
  std::vector<int> cpus = {2000000 + static_cast<int>(::getpid()), 1000000 + static_cast<int>(::getpid())};

  lock_of_this_process() { remove_files(); }
  ~lock_of_this_process() { remove_files(); }
  lock_of_this_process(const lock_of_this_process&) = delete;
  lock_of_this_process& operator=(const lock_of_this_process&) = delete;

  void remove_files() const {
    for (const int cpu : cpus) {
      const std::string path = "/tmp/kevo-measure-" + std::to_string(cpu);
      for (const char* end : {".lock", ".queue.lock"}) ::unlink((path + end).c_str());
    }
  }
};

}  // namespace

TEST_CASE("the time in which programs waited is read from a pressure file") {
  CHECK(kevo::stalled_time(
            "some avg10=0.74 avg60=0.76 avg300=12.41 total=8066431354\nfull avg10=0.00 total=7\n") ==
        8066431354.0);
  CHECK_FALSE(kevo::stalled_time(""));
  CHECK_FALSE(kevo::stalled_time("full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"));
  CHECK_FALSE(kevo::stalled_time("some avg10=0.00"));
}

TEST_CASE("contention is a share") {
  const kevo::neighbour_watch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto share = watch.contention();
  if (!share) return kevo_test::skip("this kernel does not account for the time in which programs waited");
  CHECK(*share >= 0);
  CHECK(*share <= 1);
}

TEST_CASE("what the host of a virtual machine took is read from the kernel's account") {
  const auto before = kevo::ticks_of("cpu  100 20 30 800 10 0 5 35 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
  REQUIRE(before);
  CHECK(before->stolen == 35);
  CHECK(before->all == 1000);
  const auto after = kevo::ticks_of("cpu  150 20 30 830 10 0 5 55 7 0\n");
  REQUIRE(after);
  const auto share = kevo::stolen_share(*before, *after);
  REQUIRE(share);
  CHECK(*share == doctest::Approx(0.2));
  CHECK(!kevo::stolen_share(*before, *before));  // too little time
  CHECK(!kevo::ticks_of(""));
  CHECK(!kevo::ticks_of("cpu  100 20 30\n"));
  CHECK(!kevo::ticks_of("intr 1 2 3 4 5 6 7 8\n"));
  const kevo::neighbour_watch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto now = watch.stolen();
  if (now) CHECK((*now >= 0 && *now <= 1));
}

TEST_CASE("who measures all the time does not starve who waits") {
  const lock_of_this_process own;
  std::atomic<bool> ended = false;
  std::thread busy([&] {
    while (!ended) {
      const kevo::measuring_lock lock(own.cpus);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  double longest = 0;
  for (int i = 0; i < 8; ++i) {
    const auto asked = std::chrono::steady_clock::now();
    const kevo::measuring_lock lock(own.cpus);
    longest =
        std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count());
    // A wait for a thread of this process is none for another process.
    CHECK((!lock.waited_for() || lock.waited_for()->process == 0));
  }
  ended = true;
  busy.join();
  // One turn of the other takes 20 ms. Without a queue it is left to chance who has the lock next.
  CHECK(longest < 1);
}

TEST_CASE("a wait ends when it is asked to") {
  const lock_of_this_process own;
  const kevo::measuring_lock mine(own.cpus);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS(kevo::measuring_lock(own.cpus, stop.get_token()));
}

TEST_CASE("two measurements that share one of their processors exclude each other") {
  const lock_of_this_process own;
  std::stop_source stop;
  stop.request_stop();
  const kevo::measuring_lock one(std::vector{own.cpus.front()});
  CHECK_THROWS(kevo::measuring_lock(own.cpus, stop.get_token()));
  const kevo::measuring_lock other(std::vector{own.cpus.back()},
                                   stop.get_token());  // free, and not kept by who gave up
  CHECK(other.waited_s() == 0);
}

TEST_CASE("whoever waits for another process is told which, and when the wait ends, however it ends") {
  const lock_of_this_process own;
  const std::vector<int> cpus = own.cpus;
  int ready[2] = {-1, -1};
  int release[2] = {-1, -1};
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(release) == 0);
  const int other = ::fork();
  REQUIRE(other >= 0);
  if (other == 0) {
    {
      const kevo::measuring_lock held(cpus);
      static_cast<void>(::write(ready[1], "x", 1) < 0);
      char wanted = 0;
      static_cast<void>(::read(release[0], &wanted, 1) < 0);
    }
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  std::vector<std::optional<kevo::device_holder>> told;
  const auto listen = [&](const std::optional<kevo::device_holder>& who) { told.push_back(who); };
  std::stop_source stop;
  {
    CHECK_THROWS(
        kevo::measuring_lock(cpus, stop.get_token(), [&](const std::optional<kevo::device_holder>& who) {
          listen(who);
          stop.request_stop();
        }));
  }
  REQUIRE(told.size() == 2);
  REQUIRE(told.front());
  CHECK(told.front()->process == other);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").filename().string();
  CHECK(told.front()->command.find(program) != std::string::npos);
  CHECK(to_string(*told.front()).find("process " + std::to_string(other) + " (") == 0);
  CHECK_FALSE(told.back());
  told.clear();
  {
    // The other one is stopped while it holds the lock, and continued when this has been told.
    const kevo::measuring_lock mine(cpus, {}, [&](const std::optional<kevo::device_holder>& who) {
      listen(who);
      if (who && told.size() == 1) ::kill(other, SIGSTOP);
      if (who && told.size() == 2) {
        CHECK(who->stopped);
        CHECK(to_string(*who).find("kill -CONT " + std::to_string(other)) != std::string::npos);
        ::kill(other, SIGCONT);
        static_cast<void>(::write(release[1], "x", 1) < 0);
      }
    });
    CHECK_FALSE(told.front()->stopped);
    CHECK(mine.waited_s() > 0);
    REQUIRE(mine.waited_for());
    CHECK(mine.waited_for()->process == other);
    CHECK(told.size() >= 3);
    CHECK_FALSE(told.back());
  }
  ::waitpid(other, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  ::close(release[0]);
  ::close(release[1]);
}

TEST_CASE("a command line is told without folders and control characters, cut to a length") {
  const int other = ::fork();
  REQUIRE(other >= 0);
  if (other == 0) {
    ::execl("/bin/sh", "/some/where/kevo", "-c", "kill -STOP $$", "a\nb\033", std::string(100, 'x').c_str(),
            static_cast<char*>(nullptr));
    ::_exit(1);
  }
  std::string text;
  for (int i = 0; i < 400 && text.find("kevo") != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    text = kevo::command_of(other);
  }
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  CHECK(text.find("kevo -c kill -STOP $$ a?b? xxx") == 0);
  CHECK(text.size() == 60);
  CHECK(text.substr(57) == "...");
  CHECK(kevo::command_of(other).empty());
}
