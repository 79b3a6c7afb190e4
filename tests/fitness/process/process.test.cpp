// timed
// timeout: 180
#include "fitness/process/process.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/process/proc.hpp"
#include "fitness/sandbox/reachable.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "src/base/process/descriptor.hpp"
#include "tests/fitness/support/helper_program.hpp"
#include "tests/fitness/support/sandboxed.hpp"

using namespace kevo;
using kevo::test::helper_spec;
using namespace std::chrono_literals;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Every mode that works on this machine: a machine without namespaces still tests the rest.
std::vector<sandbox_mode> modes() {
  std::vector<sandbox_mode> result = {sandbox_mode::off};
  if (contains(sandbox_mode::best)) result.push_back(sandbox_mode::required);
  return result;
}

struct shared_counters {
  shared_counters() : file(::memfd_create("counters", MFD_CLOEXEC)) {
    REQUIRE(::ftruncate(file.get(), 4096) == 0);
    values = static_cast<volatile std::uint64_t*>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  }
  ~shared_counters() { ::munmap(const_cast<std::uint64_t*>(values), 4096); }
  std::vector<std::uint64_t> copy() const { return {values, values + 512}; }
  detail::descriptor file;
  volatile std::uint64_t* values = nullptr;
};

bool alive(pid_t process) {
  const auto stat = detail::stat_of(process);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

bool gone_within(const std::vector<pid_t>& processes, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    bool any = false;
    for (const pid_t process : processes) any = any || alive(process);
    if (!any) return true;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
}

// Waits until the tree has `count` processes: a daemon's short-lived parent may still be there.
std::vector<pid_t> settled_tree(const child_process& child, std::size_t count) {
  std::vector<pid_t> tree;
  for (int i = 0; i < 1000; ++i) {
    tree = detail::tree_of(child.inner_pid(), !child.contained());
    if (tree.size() == count) return tree;
    std::this_thread::sleep_for(5ms);
  }
  return tree;
}

// Processes on whose command line this is a word.
std::vector<pid_t> with_word(const std::string& word) {
  std::vector<pid_t> found;
  for (const auto& folder : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(folder.path() / "cmdline", std::ios::binary);
    for (std::string argument; std::getline(file, argument, '\0');) {
      if (argument == word) found.push_back(std::atoi(folder.path().filename().c_str()));
    }
  }
  return found;
}

// This test program once more.
launch_spec self_spec(const std::vector<std::string>& arguments, int counters) {
  launch_spec spec;
  spec.argv = {std::filesystem::read_symlink("/proc/self/exe").string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment = {"PATH=/usr/bin:/bin", "KEVO_TEST_PARENT=" + kevo::test::helper_program()};
  if (counters >= 0) spec.file_descriptors = {{counters, 5}};
  spec.sandbox = sandbox_mode::off;
  spec.limits.wall_s = 120;
  return spec;
}

}  // namespace

TEST_CASE("this machine offers the sandbox") {
  // Most of what follows would test nothing without it. Where there is none, say so with
  // KEVO_TEST_WITHOUT_SANDBOX=1.
  if (std::getenv("KEVO_TEST_WITHOUT_SANDBOX") == nullptr) CHECK(contains(sandbox_mode::required));
}

TEST_CASE("a process runs, reads its input and is reported") {
  for (const auto mode : modes()) {
    launch_spec spec;
    spec.argv = {"/usr/bin/bash", "-c", "cat; echo oops >&2; exit 3"};
    spec.environment = {"PATH=/usr/bin"};
    spec.mounts = toolchain_mounts("/usr/bin/g++");
    spec.sandbox = mode;
    spec.standard_input = "hello";
    const auto report = run(spec);
    CHECK(report.kind == exit_kind::exited);
    CHECK(report.code == 3);
    CHECK(report.out == "hello");
    CHECK(report.err == "oops\n");
    CHECK(report.wall_s > 0);
    CHECK(describe(report) == "ended with exit code 3");
  }
}

TEST_CASE("large output on both pipes does not block, and a flood ends the process") {
  for (const auto mode : modes()) {
    launch_spec spec;
    spec.argv = {"/usr/bin/bash", "-c",
                 "for i in {1..2000}; do printf '%0512d' $i; printf '%0512d' $i >&2; done"};
    spec.mounts = toolchain_mounts("/usr/bin/g++");
    spec.sandbox = mode;
    spec.limits.output_bytes = 2U << 20U;
    const auto report = run(spec);
    CHECK(report.ok());
    CHECK(report.out.size() == 1024000);
    CHECK(report.err.size() == 1024000);
    for (const char* where : {"out", "err"}) {
      auto flood = helper_spec({"flood"}, mode);
      if (std::string(where) == "err") flood.argv.push_back("err");
      flood.limits.output_bytes = 100'000;
      const auto flooded = run(flood);
      CHECK(flooded.kind == exit_kind::output_exceeded);
      CHECK(flooded.out.size() + flooded.err.size() == 100'000);
    }
  }
}

TEST_CASE("the wall limit ends what ignores every signal") {
  for (const auto mode : modes()) {
    auto spec = helper_spec({"stubborn"}, mode);
    spec.limits.wall_s = 0.4;
    const auto start = std::chrono::steady_clock::now();
    const auto report = run(spec);
    CHECK(report.kind == exit_kind::timed_out);
    CHECK(report.out == "ready\n");
    CHECK(report.wall_s >= 0.39);
    CHECK(seconds_since(start) < 10);
  }
}

TEST_CASE("the processor limit is a time-out, too") {
  for (const auto mode : modes()) {
    auto spec = helper_spec({"spin"}, mode);
    spec.limits.cpu_s = 1;
    spec.limits.wall_s = 60;
    const auto report = run(spec);
    CHECK(report.kind == exit_kind::timed_out);
    CHECK(report.cpu_s >= 0.5);
    CHECK(report.wall_s < 50);
  }
}

TEST_CASE("memory, file size and output limits hold") {
  for (const auto mode : modes()) {
    auto spec = helper_spec({"memory"}, mode);
    spec.limits.memory_bytes = 256U << 20U;
    CHECK(std::stoi(run(spec).out) < 256);
    spec.limits.memory_bytes = 0;
    spec.limits.data_bytes = 128U << 20U;
    CHECK(std::stoi(run(spec).out) < 128);

    const scratch_folder folder(mode != sandbox_mode::off);
    auto file = helper_spec({"big_file", "/out/file"}, mode);
    file.mounts.push_back({folder.path(), "/out", true});
    file.limits.file_bytes = 1U << 20U;
    CHECK(run(file).out == "1048576\n");
  }
}

TEST_CASE("the number of processes is limited, as root too") {
  if (!kevo::test::sandboxed_or_skip()) return;
  auto spec = helper_spec({"fork_bomb"});
  spec.limits.processes = 10;
  auto child = launch(spec);
  const auto tree = settled_tree(child, 10);
  CHECK(tree.size() == 10);
  // Another sandbox of the same user at the same time has its own count.
  auto second = launch(spec);
  CHECK(settled_tree(second, 10).size() == 10);
  std::this_thread::sleep_for(20ms);
  CHECK(detail::tree_of(child.inner_pid(), false).size() == 10);
  child.kill();
  CHECK(child.wait().out == "9\n");
  CHECK(gone_within(tree, 2s));
}

TEST_CASE("crashes are told from exits") {
  for (const auto mode : modes()) {
    const auto report = run(helper_spec({"segv"}, mode));
    CHECK(report.kind == exit_kind::signalled);
    CHECK(report.signal == SIGSEGV);
  }
}

TEST_CASE("a program that does not exist is a fault of the machine") {
  for (const auto mode : modes()) {
    launch_spec spec;
    spec.argv = {"/nowhere/program"};
    spec.sandbox = mode;
    if (mode == sandbox_mode::off) {
      CHECK_THROWS_AS(run(spec), kevo::error);
    } else {
      const auto report = run(spec);
      CHECK(report.kind == exit_kind::not_started);
      CHECK(report.err.find("/nowhere/program") != std::string::npos);
    }
  }
}

TEST_CASE("killing reaches daemons, and the destructor leaves nothing") {
  for (const auto mode : modes()) {
    std::vector<pid_t> tree;
    {
      auto child = launch(helper_spec({"grandchild", "stay"}, mode));
      tree = settled_tree(child, 2);
      CHECK(tree.size() == 2);
      CHECK(alive(child.inner_pid()));
    }
    CHECK(gone_within(tree, 2s));
  }
  if (!kevo::test::sandboxed_or_skip()) return;
  // A daemon that outlives its parent and holds the pipe must not delay the report.
  const auto start = std::chrono::steady_clock::now();
  CHECK(run(helper_spec({"grandchild"})).ok());
  CHECK(seconds_since(start) < 5);
}

TEST_CASE("a stop token ends the process") {
  for (const auto mode : modes()) {
    std::stop_source source;
    auto child = launch(helper_spec({"stubborn"}, mode));
    CHECK(!child.try_wait());
    std::thread stopper([&] {
      std::this_thread::sleep_for(50ms);
      source.request_stop();
    });
    const auto report = child.wait(source.get_token());
    stopper.join();
    CHECK(report.kind == exit_kind::cancelled);
    CHECK(child.try_wait()->kind == exit_kind::cancelled);
  }
}

TEST_CASE("the inner process is the program itself, in its own process id namespace") {
  if (!kevo::test::sandboxed_or_skip()) return;
  auto child = launch(helper_spec({"stubborn"}));
  CHECK(child.inner_pid() != child.pid());
  for (int i = 0; i < 500; ++i) {
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(child.inner_pid()) + "/comm"), name);
    if (name == "helper") break;
    std::this_thread::sleep_for(5ms);
  }
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(child.inner_pid()) + "/comm"), name);
  CHECK(name == "helper");
  CHECK(detail::stat_of(child.inner_pid())->parent == child.pid());
}

TEST_CASE("one process freezes and thaws, threads and all") {
  for (const auto mode : modes()) {
    for (const char* threads : {"1", "3"}) {
      shared_counters counters;
      auto spec = helper_spec({"count", "1", threads}, mode);
      spec.file_descriptors = {{counters.file.get(), 5}};
      auto child = launch(spec);
      while (counters.values[0] == 0) std::this_thread::sleep_for(1ms);
      if (threads[0] == '3') {
        while (counters.values[66] == 0) std::this_thread::sleep_for(1ms);
      }
      auto freezer = child.inner_freezer();
      for (int round = 0; round < 20; ++round) {
        REQUIRE(freezer.freeze_and_confirm());
        const auto before = counters.copy();
        std::this_thread::sleep_for(2ms);
        CHECK(counters.copy() == before);
        CHECK(freezer.frozen());
        CHECK(freezer.thaw());
        for (int i = 0; i < 2000 && counters.copy() == before; ++i) std::this_thread::sleep_for(1ms);
        CHECK(counters.copy() != before);
      }
      CHECK(!freezer.ended());
      child.kill();
      child.wait();
      CHECK(freezer.ended());
      CHECK(freezer.frozen());
      CHECK(!freezer.freeze());
    }
  }
}

TEST_CASE("a paused tree makes no progress, whatever session its processes are in") {
  for (const auto mode : modes()) {
    shared_counters counters;
    auto spec = helper_spec({"count", "4", "2"}, mode);
    spec.file_descriptors = {{counters.file.get(), 5}};
    auto child = launch(spec);
    while (counters.values[0] == 0 || counters.values[1] == 0 || counters.values[2] == 0 ||
           counters.values[3] == 0) {
      std::this_thread::sleep_for(1ms);
    }
    for (int round = 0; round < 5; ++round) {
      child.pause();
      CHECK(child.confirmed_paused());
      const auto before = counters.copy();
      std::this_thread::sleep_for(20ms);
      CHECK(counters.copy() == before);
      child.resume();
      std::this_thread::sleep_for(20ms);
      for (int i = 0; i < 2000 && counters.values[3] == before[3]; ++i) std::this_thread::sleep_for(1ms);
      CHECK(counters.values[3] != before[3]);
    }
    CHECK(!child.confirmed_paused());
  }
}

TEST_CASE("a tree that keeps starting processes by vfork can be paused") {
  for (const auto mode : modes()) {
    shared_counters counters;
    auto spec = helper_spec({"spawn_forever"}, mode);
    const auto tools = toolchain_mounts("/usr/bin/g++");
    spec.mounts.insert(spec.mounts.end(), tools.begin(), tools.end());
    spec.file_descriptors = {{counters.file.get(), 5}};
    auto child = launch(spec);
    while (counters.values[0] == 0) std::this_thread::sleep_for(1ms);
    for (int round = 0; round < 20; ++round) {
      child.pause();
      const auto before = counters.values[0];
      std::this_thread::sleep_for(5ms);
      CHECK(counters.values[0] == before);
      child.resume();
      for (int i = 0; i < 2000 && counters.values[0] == before; ++i) std::this_thread::sleep_for(1ms);
      CHECK(counters.values[0] > before);
    }
  }
}

TEST_CASE("paused time does not count against the wall limit, and a paused process can be killed") {
  for (const auto mode : modes()) {
    auto spec = helper_spec({"stubborn"}, mode);
    spec.limits.wall_s = 0.5;
    auto child = launch(spec);
    child.pause();
    child.pause();
    std::this_thread::sleep_for(800ms);
    child.resume();
    CHECK(child.confirmed_paused());
    CHECK(!child.try_wait());
    child.resume();
    const auto report = child.wait();
    CHECK(report.kind == exit_kind::timed_out);
    CHECK(report.wall_s > 0.4);

    auto second = launch(helper_spec({"stubborn"}, mode));
    second.pause();
    second.kill();
    CHECK(second.wait().kind == exit_kind::cancelled);
  }
}

TEST_CASE("only the descriptors that were asked for are open") {
  shared_counters counters;
  const int leak = ::open("/dev/null", O_RDONLY);  // without close-on-exec
  for (const auto mode : modes()) {
    auto spec = helper_spec({"descriptors"}, mode);
    spec.file_descriptors = {{counters.file.get(), 7}, {counters.file.get(), 4}};
    CHECK(run(spec).out == "0 1 2 4 7 ");
  }
  ::close(leak);
}

TEST_CASE("affinity and signal handling are set") {
  for (const auto mode : modes()) {
    auto spec = helper_spec({"affinity"}, mode);
    spec.cpus = {0};
    CHECK(run(spec).out == "1\n");
  }
}

TEST_CASE("where SIGCHLD is ignored, nothing starts and the message says why") {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  CHECK_THROWS_WITH_AS(
      run(helper_spec({"affinity"}, sandbox_mode::off)),
      "this process ignores SIGCHLD, so it cannot detect how its child processes end (set the signal to its "
      "default action (SIG_DFL))",
      error);
  std::signal(SIGCHLD, before);
}

TEST_CASE("no child outlives a parent that is killed") {
  if (!kevo::test::sandboxed_or_skip()) return;
  shared_counters counters;
  auto parent = launch(self_spec({"-tc=parent that is killed", "-ns"}, counters.file.get()));
  const auto all_count = [&] {
    return counters.values[0] != 0 && counters.values[1] != 0 && counters.values[2] != 0;
  };
  for (int i = 0; i < 4000 && !all_count(); ++i) std::this_thread::sleep_for(5ms);
  REQUIRE(all_count());
  const std::vector<pid_t> tree = detail::tree_of(parent.pid(), false);
  CHECK(tree.size() >= 5);  // the parent, bubblewrap, three counters
  ::kill(parent.pid(), SIGKILL);
  // Its children have sessions of their own, so that it is not our supervision of it that ends them.
  CHECK(gone_within({tree.begin() + 1, tree.end()}, 2s));
  const auto before = counters.copy();
  std::this_thread::sleep_for(20ms);
  CHECK(counters.copy() == before);
}

TEST_CASE("parent that is killed" * doctest::skip()) {
  const char* helper = std::getenv("KEVO_TEST_PARENT");
  if (helper == nullptr) return;
  launch_spec spec;
  spec.argv = {"/helper", "count", "3", "1"};
  spec.mounts = {{helper, "/helper"}};
  spec.file_descriptors = {{5, 5}};
  auto child = launch(spec);
  child.wait();
}

// Bubblewrap's child notes last, just before argv[0], that it is to end with its parent.
TEST_CASE("no child outlives a parent that is killed while it starts processes") {
  if (!kevo::test::sandboxed_or_skip()) return;
  std::mt19937 random(7);
  std::uniform_int_distribution<int> moment_us(0, 20'000);
  for (int i = 0; i < 60; ++i) {
    const std::string mark = "kevo-test-" + std::to_string(::getpid()) + '-' + std::to_string(i);
    auto spec = self_spec({"-tc=parent that starts processes", "-ns"}, -1);
    spec.environment.push_back("KEVO_TEST_MARK=" + mark);
    auto parent = launch(spec);
    for (int tries = 0; tries < 4000 && with_word(mark).empty(); ++tries) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(std::chrono::microseconds(moment_us(random)));
    ::kill(parent.pid(), SIGKILL);
    parent.wait();
    const auto killed = std::chrono::steady_clock::now();
    std::vector<pid_t> left = with_word(mark);
    while (!left.empty() && seconds_since(killed) < 5) {
      std::this_thread::sleep_for(5ms);
      left = with_word(mark);
    }
    CHECK_MESSAGE(left.empty(), left.size() << " processes are left after kill " << i);
    for (const pid_t process : left) ::kill(process, SIGKILL);
  }
}

TEST_CASE("parent that starts processes" * doctest::skip()) {
  const char* helper = std::getenv("KEVO_TEST_PARENT");
  const char* mark = std::getenv("KEVO_TEST_MARK");
  if (helper == nullptr || mark == nullptr) return;
  for (;;) {
    launch_spec spec;
    spec.argv = {"/helper", "stubborn", mark};
    spec.mounts = runtime_mounts();
    spec.mounts.push_back({helper, "/helper"});
    auto child = launch(spec);
    std::this_thread::sleep_for(2ms);
  }
}

TEST_CASE("all of this works for an ordinary user, too") {
  if (!kevo::test::root_or_skip()) return;
  if (!std::filesystem::exists("/usr/bin/setpriv")) return kevo_test::skip("there is no setpriv");
  auto spec = self_spec(
      {"-tc=*limits hold,*processes is limited*,*reads its input*,*paused tree*,*machine offers*", "-m"}, -1);
  if (!detail::reachable_by_others(spec.argv.front()))
    return kevo_test::skip("an ordinary user cannot reach " + spec.argv.front());
  spec.argv.insert(spec.argv.begin(), {"/usr/bin/setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"});
  spec.environment.emplace_back("TMPDIR=/tmp");
  const auto report = run(spec);
  INFO(report.out << report.err);
  CHECK(report.ok());
}

TEST_CASE("many processes at once") {
  std::vector<child_process> children;
  for (int i = 0; i < 20; ++i) {
    launch_spec spec;
    spec.argv = {"/usr/bin/bash", "-c", "echo " + std::to_string(i)};
    spec.mounts = toolchain_mounts("/usr/bin/g++");
    spec.sandbox = sandbox_mode::best;
    children.push_back(launch(spec));
  }
  for (int i = 0; i < 20; ++i)
    CHECK(children[static_cast<std::size_t>(i)].wait().out == std::to_string(i) + "\n");
}
