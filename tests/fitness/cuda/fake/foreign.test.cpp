// timed
// Foreign processes on the device, with the test double of NVML.
// timeout: 300

#include <chrono>
#include <csignal>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cuda/device/foreign_processes.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

using namespace kevo;
using namespace std::chrono_literals;

namespace {

/// Somebody else's program.
class other_program {
 public:
  other_program() : id_(::fork()) {
    if (id_ != 0) {
      while (name() != "sleep\n") std::this_thread::sleep_for(1ms);
      return;
    }
    ::execl("/bin/sleep", "sleep", "600", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  other_program(const other_program&) = delete;
  other_program& operator=(const other_program&) = delete;
  ~other_program() { end(); }
  void end() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = 0;
  }
  pid_t id() const { return id_; }
  std::string line() const { return std::to_string(id_) + " 3120\n"; }
  std::string words() const { return "sleep (process " + std::to_string(id_) + ", 3120 MiB)"; }

 private:
  std::string name() const { return shell::read_file("/proc/" + std::to_string(id_) + "/comm"); }
  pid_t id_;
};

struct patient_bench {
  explicit patient_bench(double patience_s, foreign_processes policy = foreign_processes::refuse)
      : fitness(toy::task_of("scale.yaml"), [&] {
          auto settings = toy::quick_settings();
          settings.foreign = policy;
          settings.foreign_s = patience_s;
          return settings;
        }()) {}
  evaluation judge(int ns) { return toy::evaluate(fitness, toy::scale_source(ns)); }
  fake_gpu gpu;
  cuda_fitness fitness;
};

}  // namespace

TEST_CASE("a foreign process refuses the measurement, names itself, and blames no candidate") {
  patient_bench bench(0.5);
  const auto alone = bench.judge(10000);
  CHECK_MESSAGE(alone.valid(), alone.feedback);
  CHECK(alone.context.at("foreign_processes").starts_with("none"));
  const other_program other;
  bench.gpu.list_processes(other.line());
  try {
    const auto result = bench.judge(10500);
    FAIL("a time was taken beside another process: " << to_string(result.outcome));
  } catch (const error& refused) {
    CHECK(refused.code() == error_code::environment);
    INFO(refused.message());
    CHECK(refused.message().find(other.words()) != std::string::npos);
    CHECK(refused.hint().find("foreign_processes=note") != std::string::npos);
  }
  bench.gpu.list_processes("");
  CHECK(bench.judge(10500).valid());
}

TEST_CASE("a measurement waits a while for a foreign process to go") {
  patient_bench bench(60);
  other_program other;
  bench.gpu.list_processes(other.line());
  std::jthread user([&] {
    std::this_thread::sleep_for(1500ms);
    other.end();
  });
  const auto start = std::chrono::steady_clock::now();
  const auto result = bench.judge(10000);
  CHECK_MESSAGE(result.valid(), result.feedback);
  CHECK(std::chrono::steady_clock::now() - start > 1400ms);
  CHECK(result.context.at("foreign_processes").starts_with("none"));
}

TEST_CASE("whoever waits for a foreign process can be stopped") {
  patient_bench bench(60);
  REQUIRE(bench.judge(10000).valid());
  const other_program other;
  bench.gpu.list_processes(other.line());
  std::stop_source stop;
  std::jthread user([&] {
    std::this_thread::sleep_for(300ms);
    stop.request_stop();
  });
  const auto source = std::make_shared<const program>(program_of("cuda", toy::scale_source(9000)));
  try {
    bench.fitness.evaluate({.program = source, .stop = stop.get_token()});
    FAIL("it was measured beside another process");
  } catch (const error& failure) {
    CHECK(failure.code() == error_code::interrupted);
  }
  bench.gpu.list_processes("");
  CHECK(bench.fitness.evaluate({.program = source}).valid());
}

TEST_CASE("where it is allowed, an evaluation says who was there") {
  patient_bench bench(0.5, foreign_processes::note);
  const other_program other;
  bench.gpu.list_processes(other.line());
  const auto result = bench.judge(10000);
  CHECK_MESSAGE(result.valid(), result.feedback);
  CHECK(result.context.at("foreign_processes").starts_with(other.words()));
}

TEST_CASE("where it cannot be told, an evaluation says so and goes on") {
  patient_bench bench(0.5);
  SUBCASE("NVML does not list even whoever asks, as in a container") {
    const other_program other;
    bench.gpu.list_processes("hidden\n" + other.line());
  }
  SUBCASE("there is no NVML, or one that does not know the device") {
    std::filesystem::remove(bench.gpu.folder() + "/libnvidia-ml.so.1");
  }
  const auto result = bench.judge(10000);
  CHECK_MESSAGE(result.valid(), result.feedback);
  CHECK(result.context.at("foreign_processes").starts_with("cannot be detected: "));
  for (const auto& part : cuda::probe_gpu()) {
    if (part.name != "GPU processes") continue;
    CHECK_FALSE(part.there);
    CHECK_FALSE(part.needed);
    CHECK(part.detail.find("cannot be detected") != std::string::npos);
  }
}

TEST_CASE("doctor names foreign processes") {
  const fake_gpu gpu;
  const other_program other;
  gpu.list_processes(other.line());
  bool found = false;
  for (const auto& part : cuda::probe_gpu())
    found = found || part.detail.find(other.words()) != std::string::npos;
  CHECK(found);
  CHECK_FALSE(cuda::calibrate_gpu(""));
}

TEST_CASE("kevo's own processes and those that have ended are nobody foreign") {
  const std::map<pid_t, std::string> names = {{10, "kevo-device"},
                                              {11, "kevo-device"},
                                              {12, "kevo-worker-cud"},
                                              {13, "python3"},
                                              {14, ""},
                                              {15, "?"}};
  const auto name_of = [&](pid_t id) { return names.at(id); };
  const auto users = cuda::foreign_among({{10, 1}, {11, 1}, {12, 1}, {14, 1}}, 10, name_of);
  CHECK(users.told);
  CHECK(users.foreign.empty());
  const auto more = cuda::foreign_among({{13, 5ULL << 20U}, {10, 1}, {15, 0}}, 10, name_of);
  REQUIRE(more.foreign.size() == 2);
  CHECK(cuda::describe(more.foreign) == "python3 (process 13, 5 MiB), ? (process 15)");
  CHECK_FALSE(cuda::foreign_among({{13, 1}}, 10, name_of).told);
  CHECK_FALSE(cuda::foreign_among({}, 10, name_of).told);
}
