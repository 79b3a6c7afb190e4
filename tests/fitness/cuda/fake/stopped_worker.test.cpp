// labels: long
// serial
// timeout: 300
// A process for candidates of one kind that has begun and does not get ready, because it is stopped, while a
// candidate of another kind is timed: times wait for it, but not for ever, and no candidate is blamed.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

using namespace kevo;
using namespace std::chrono_literals;

namespace {

struct seen_process {
  std::string name;
  std::string state;
  pid_t parent = 0;
  long long started = 0;  // [clock ticks since boot]
};

seen_process process_of(const std::string& stat) {
  const auto open = stat.find('(');
  const auto close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::istringstream rest(stat.substr(close + 2));
  seen_process one{.name = stat.substr(open + 1, close - open - 1)};
  rest >> one.state >> one.parent;
  std::string skipped;
  for (int i = 0; i < 17; ++i) rest >> skipped;  // the time of the start is field 22 of proc_pid_stat(5)
  rest >> one.started;
  return one;
}

/// Processes of hosted candidates that this process has started, the oldest first.
std::vector<pid_t> hosted_processes() {
  std::map<pid_t, seen_process> all;
  std::error_code ignored;
  for (const auto& folder : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto id = static_cast<pid_t>(std::atoi(folder.path().filename().c_str()));
    if (id > 0) all[id] = process_of(shell::read_file(folder.path() / "stat"));
  }
  std::vector<std::pair<long long, pid_t>> found;
  for (const auto& [id, one] : all) {
    if (!one.name.starts_with("kevo-worker-hos") || one.state == "Z") continue;
    pid_t up = id;
    while (up > 1 && up != ::getpid() && all.contains(up)) up = all[up].parent;
    if (up == ::getpid()) found.emplace_back(one.started, id);
  }
  std::sort(found.begin(), found.end());
  std::vector<pid_t> ids;
  for (const auto& one : found) ids.push_back(one.second);
  return ids;
}

/// The hosted processes once there are as many, and the same for a second: those that end or begin just now
/// do not count.
std::vector<pid_t> hosted_processes(std::size_t count) {
  std::vector<pid_t> before;
  int same = 0;
  for (int i = 0; i < 600 && same < 20; ++i) {
    auto found = hosted_processes();
    same = found.size() == count && found == before ? same + 1 : 0;
    before = std::move(found);
    std::this_thread::sleep_for(50ms);
  }
  return before;
}

std::string hosted_program(int ns) {
  return "#define FAKE_NS " + std::to_string(ns) +
         "\n#include <cuda_runtime.h>\n#include <cstdint>\n"
         "__global__ void scale(const float* x, float* y, long long n) {\n"
         "  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) y[i] = 2 * x[i];\n}\n"
         "extern \"C\" int run(const float* x, float* y, int64_t N, cudaStream_t stream) {\n"
         "  scale<<<(N + 63) / 64, 64, 0, stream>>>(x, y, N);\n  return 0;\n}\n";
}

/// How long an evaluation waited for processes that start. [s]
double waited_for_starts(const evaluation& e) {
  return std::stod(e.context.at("held_share_starts")) * std::stod(e.context.at("held_s"));
}

/// A bench on which a process for the hosted candidate after next has begun and is stopped: it was stopped
/// while it rested, before it was told to begin.
struct bench_with_stopped_process {
  bench_with_stopped_process() : fitness(toy::task_of("scale.yaml"), toy::quick_settings()) {
    check_hosted(20'000);
    const auto waiting = hosted_processes(2);  // one has begun, and one rests
    REQUIRE(waiting.size() == 2);
    stopped = waiting.back();
    REQUIRE(::kill(stopped, SIGSTOP) == 0);
    check_hosted(21'000);  // takes the one that had begun, so that the stopped one begins
  }
  ~bench_with_stopped_process() { ::kill(stopped, SIGCONT); }
  bench_with_stopped_process(const bench_with_stopped_process&) = delete;
  bench_with_stopped_process& operator=(const bench_with_stopped_process&) = delete;

  void check_hosted(int ns) {
    const auto e = toy::evaluate(fitness, hosted_program(ns), evaluation_stage::checked);
    REQUIRE_MESSAGE(e.valid(), e.feedback);
  }
  evaluation time_declared(int ns) {
    return toy::evaluate(fitness, toy::scale_source(ns), evaluation_stage::timed_short);
  }

  fake_gpu gpu;
  cuda_fitness fitness;
  pid_t stopped = 0;
};

}  // namespace

TEST_CASE("times wait for a process of another kind of candidate that is about to start") {
  bench_with_stopped_process bench;
  constexpr auto pause = 4s;
  auto judged = std::async(std::launch::async, [&] { return bench.time_declared(10'000); });
  std::this_thread::sleep_for(pause);
  CHECK(judged.wait_for(0s) == std::future_status::timeout);
  ::kill(bench.stopped, SIGCONT);
  const auto e = judged.get();
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.speedup == doctest::Approx(2).epsilon(0.02));
  CHECK(waited_for_starts(e) > 1);
  CHECK(waited_for_starts(e) < 9);  // no longer than until it was ready
  bench.check_hosted(22'000);       // the same process serves
}

TEST_CASE("a process that never gets ready delays times, and no candidate is blamed for it") {
  bench_with_stopped_process bench;
  const auto e = bench.time_declared(10'000);
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.speedup == doctest::Approx(2).epsilon(0.02));
  CHECK(waited_for_starts(e) > 9);
  CHECK(waited_for_starts(e) < 60);
  // The candidate that would have had it gets another one.
  const auto next = toy::evaluate(bench.fitness, hosted_program(23'000), evaluation_stage::checked);
  CHECK_MESSAGE(next.valid(), next.feedback);
}
