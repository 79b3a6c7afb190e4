// timed
// The processes of the CUDA evaluator end to end, on the test double of the driver: kevo-device,
// kevo-worker-cuda and kevo-compile-cuda are the real ones, the device and its clock are simulated.
// once: an honest kernel*,where there is no sandbox*,a device whose clock*,workers that ended*
// once: a confirmation gives*,a lost device fails*,every fault costs the candidate*
// timeout: 600

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <numeric>
#include <sstream>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

using namespace kevo;

namespace {

struct toy_bench {
  explicit toy_bench(const std::string& settings = {}, const std::string& name = "scale.yaml")
      : gpu(settings), fitness(toy::task_of(name), toy::quick_settings()) {}
  evaluation judge(int ns, const std::string& faults = {},
                   evaluation_stage wanted = evaluation_stage::timed_full) {
    return toy::evaluate(fitness, toy::scale_source(ns, faults), wanted);
  }
  fake_gpu gpu;
  cuda_fitness fitness;
};

/// Processor time of each worker that this process has started, by process id. [clock ticks]
std::map<pid_t, long> worker_times() {
  struct entry {
    std::string name;
    pid_t parent = 0;
    long ticks = 0;
  };
  std::map<pid_t, entry> all;
  std::error_code ignored;
  for (const auto& folder : std::filesystem::directory_iterator("/proc", ignored)) {
    if (std::atoi(folder.path().filename().c_str()) == 0) continue;
    const auto text = shell::read_file(folder.path() / "stat");
    const auto open = text.find('(');
    const auto close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    std::istringstream rest(text.substr(close + 2));
    entry one{text.substr(open + 1, close - open - 1)};
    std::string word;
    long value = 0;
    rest >> word >> one.parent;  // then group, session, terminal, its group, flags, four counts of faults
    for (int i = 0; i < 9; ++i) rest >> value;
    long system = 0;
    rest >> one.ticks >> system;
    one.ticks += system;
    all[static_cast<pid_t>(std::atoi(text.c_str()))] = one;
  }
  std::map<pid_t, long> workers;
  for (const auto& [id, one] : all) {
    if (!one.name.starts_with("kevo-worker-cud")) continue;
    for (pid_t up = id; up > 1; up = all[up].parent) {
      if (up == ::getpid()) workers[id] = one.ticks;
    }
  }
  return workers;
}

/// Workers that use a processor nearly all of the time.
int busy_workers() {
  const auto before = worker_times();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  int busy = 0;
  for (const auto& [id, ticks] : worker_times()) {
    const auto found = before.find(id);
    busy += found != before.end() && ticks - found->second >= 8 ? 1 : 0;  // of 30
  }
  return busy;
}

}  // namespace

TEST_CASE("build options of a program are recorded, and fast math is the task's to allow") {
  toy_bench bench;
  const auto judge = [&](const std::string& line) {
    return toy::evaluate(bench.fitness, line + toy::scale_source(10000), evaluation_stage::built);
  };
  const auto plain = judge("");
  CHECK(plain.outcome == outcome::unchecked);
  CHECK_FALSE(plain.context.contains("build"));
  CHECK(plain.context.at("built_by").starts_with("NVRTC"));
  const auto capped = judge("// kevo: build {registers: 32, optimize: 2}\n");
  CHECK(capped.outcome == outcome::unchecked);
  CHECK(capped.context.at("build") == "optimize 2, registers 32");
  const auto fast = judge("// kevo: build {fast_math: on}\n");
  CHECK(fast.outcome == outcome::build_failed);
  CHECK(fast.reasons.at(0).find("the task 'fake_scale' does not say 'fast_math: true'") != std::string::npos);
}

TEST_CASE("an honest kernel is as fast as the device's clock says") {
  toy_bench bench;
  const auto twice = bench.judge(10000);
  CHECK_MESSAGE(twice.outcome == outcome::valid, twice.feedback);
  CHECK(twice.speedup == doctest::Approx(2).epsilon(0.01));
  CHECK(twice.speedup_interval.low <= twice.speedup);
  CHECK(twice.speedup_interval.high >= twice.speedup);
  CHECK(twice.speedup_interval.low > 1.85);  // a first look allows for the 550 ns by which processes differ
  for (const auto& w : twice.workloads) {
    if (!w.hidden) CHECK(w.time_ns == doctest::Approx(10000).epsilon(0.01));
  }
  CHECK(twice.device == "test double");
  CHECK(twice.measures.at("registers") == 32);
  CHECK(twice.measures.at("occupancy") == 1);  // 8 blocks of 256 threads, 32 registers each
  CHECK(twice.measures.at("launches") == 1);
  CHECK(twice.feedback.find("scale: grid 8, block 256") != std::string::npos);
  CHECK(twice.feedback.find("large: 1.6") != std::string::npos);  // 16384 bytes in 10 us
  CHECK(twice.feedback.find("odd") == std::string::npos);

  const auto same = bench.judge(20000);
  CHECK(same.valid());
  CHECK(same.speedup_interval.low < 1.01);
  CHECK(same.speedup_interval.high > 0.99);

  const auto confirmed = bench.judge(10000, "", evaluation_stage::confirmed);
  CHECK(confirmed.stage == evaluation_stage::confirmed);
  CHECK(confirmed.speedup == doctest::Approx(2).epsilon(0.01));

  // The first launch of a process is slow on a real device, too: no reading shows it.
  const auto slow_first = bench.judge(10000, "slow_first");
  CHECK(slow_first.valid());
  CHECK(slow_first.speedup == doctest::Approx(2).epsilon(0.01));

  // Rounding noise is no mistake.
  CHECK(bench.judge(10000, "random_bits").valid());
}

TEST_CASE("where there is no sandbox the same holds") {
  const fake_gpu gpu;
  auto settings = toy::quick_settings();
  settings.sandbox = sandbox_mode::off;
  cuda_fitness fitness(toy::task_of("scale.yaml"), settings);
  const auto twice = toy::evaluate(fitness, toy::scale_source(10000));
  CHECK_MESSAGE(twice.valid(), twice.feedback);
  CHECK(twice.speedup == doctest::Approx(2).epsilon(0.01));
  CHECK(toy::evaluate(fitness, toy::scale_source(10000, "exit")).outcome == outcome::crashed);
  CHECK(toy::evaluate(fitness, toy::scale_source(11000)).valid());
}

TEST_CASE("a reduction with a scale tensor is judged by the reference on the device") {
  toy_bench bench("", "rows.yaml");
  const auto t = toy::task_of("rows.yaml");
  const auto same = toy::evaluate(bench.fitness, t->seeds.front().files.front().text);
  CHECK_MESSAGE(same.valid(), same.feedback);
  CHECK(same.speedup == doctest::Approx(1).epsilon(0.01));
  const auto wrong =
      toy::evaluate(bench.fitness, "// fake: wrong_value\n" + t->seeds.front().files.front().text);
  CHECK(wrong.outcome == outcome::incorrect);
}

TEST_CASE("a contract of whole outputs is kept or broken on the device, too") {
  const fake_gpu gpu;
  auto t = *toy::task_of("scale.yaml");
  kevo::tolerance rule;
  rule.rule = "finite";
  rule.max_rmse = 1e-6;
  t.tolerances[""] = rule;
  cuda_fitness fitness(std::make_shared<const task>(t), toy::quick_settings());
  const auto honest = toy::evaluate(fitness, toy::scale_source(8000), evaluation_stage::checked);
  CHECK_MESSAGE(honest.valid(), honest.feedback);
  const auto wrong =
      toy::evaluate(fitness, toy::scale_source(8000, "wrong_value"), evaluation_stage::checked);
  CHECK(wrong.outcome == outcome::incorrect);
  CHECK_MESSAGE(wrong.feedback.find("the root of its mean squared error") != std::string::npos,
                wrong.feedback);
}

TEST_CASE("every fault costs the candidate that has it, and nobody else") {
  toy_bench bench;
  const auto judged = [&](const std::string& fault) {
    const auto result = bench.judge(10000, fault);
    CHECK(result.speedup == 0);
    const auto next = bench.judge(10000 + static_cast<int>(fault.size()));
    CHECK_MESSAGE(next.valid(), fault, ": ", next.feedback);
    return result;
  };
  SUBCASE("sticky errors and deaths") {
    CHECK(judged("illegal_address").outcome == outcome::crashed);
    CHECK(judged("launch_failure").outcome == outcome::crashed);
    const auto died = judged("exit");
    CHECK_MESSAGE(died.outcome == outcome::crashed, died.feedback);
    CHECK(died.feedback.find("exit code 5") != std::string::npos);
    CHECK(judged("refused").outcome == outcome::launch_failed);
  }
  SUBCASE(
      "a death that does not come again is not the candidate's: something else may have ended its process") {
    CHECK(bench.judge(10000, "exit_once").valid());
  }
  SUBCASE("without a second try, the first death and the first hang count, but for this evaluation alone") {
    const auto once = toy::scale_source(10000, "exit_once");
    const auto died = toy::count_tries(bench.fitness, once, false);
    CHECK_MESSAGE(died.result.outcome == outcome::crashed, died.result.feedback);
    CHECK(died.tries == 1);
    CHECK(toy::count_tries(bench.fitness, once, true).result.valid());
    const auto hang = toy::scale_source(10000, "hang");
    const auto hung = toy::count_tries(bench.fitness, hang, false);
    CHECK(hung.result.outcome == outcome::timed_out);
    CHECK(hung.tries == 1);
    const auto twice = toy::count_tries(bench.fitness, hang, true);
    CHECK(twice.result.outcome == outcome::timed_out);
    CHECK(twice.tries == 2);
    const auto fault = toy::count_tries(bench.fitness, toy::scale_source(10000, "illegal_address"), false);
    CHECK(fault.result.outcome == outcome::crashed);
    CHECK(fault.tries == 1);
    // Whose fault it is is asked all the same.
    CHECK_THROWS_AS(toy::count_tries(bench.fitness, toy::scale_source(10000, "lose_device"), false), error);
  }
  SUBCASE("a hang, within its limit, twice") {
    const auto start = std::chrono::steady_clock::now();
    CHECK(judged("hang").outcome == outcome::timed_out);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
    CHECK_FALSE(worker_times().empty());
    CHECK(busy_workers() == 0);  // what hung is gone, and who waits takes no processor
  }
  SUBCASE("a hang that only a hidden workload shows says nothing of it") {
    const auto hidden = judged("hang when_hidden");
    CHECK(hidden.outcome == outcome::timed_out);
    CHECK(hidden.feedback == "a hidden workload failed: a call timed out");
  }
  SUBCASE("wrong results") {
    CHECK(judged("no_op").outcome == outcome::incorrect);
    CHECK(judged("stale").outcome == outcome::incorrect);
    const auto wrong = judged("wrong_value");
    CHECK(wrong.outcome == outcome::incorrect);
    CHECK(wrong.feedback.find("1 of 500 elements") != std::string::npos);
    const auto hidden = judged("wrong_value when_hidden");
    CHECK(hidden.outcome == outcome::incorrect);
    CHECK(hidden.feedback == "a hidden workload failed: its result is wrong");
  }
  SUBCASE("writes outside of the outputs") {
    CHECK(judged("write_guard").outcome == outcome::rejected);
    CHECK(judged("change_input").outcome == outcome::rejected);
  }
  SUBCASE("fraud with time") {
    const auto early = judged("early");
    CHECK(early.outcome == outcome::rejected);
    CHECK(early.reasons.front() == "signalled done before the work was done");
    const auto forged = judged("forge_events");
    CHECK(forged.outcome == outcome::suspect);
  }
  SUBCASE("events that are wrong too rarely for a suspicion, and for nothing") {
    try {
      const auto at_times = judged("forge_events_at_times");
      CHECK(at_times.valid());
      CHECK(at_times.speedup == doctest::Approx(2).epsilon(0.02));
      CHECK(at_times.context.at("clock").find("what that saw") != std::string::npos);
    } catch (const error& busy) {
      // On a busy machine the trusted clock is late in the same readings, and then nobody can say which clock
      // is right.
      MESSAGE(busy.message());
      CHECK(busy.message().find("kevo lost its processor in 0 readings") == std::string::npos);
    }
  }
  SUBCASE("a source that does not compile") {
    const auto broken = toy::evaluate(bench.fitness, "#error\n" + toy::scale_source(10000));
    CHECK(broken.outcome == outcome::build_failed);
    CHECK(broken.feedback.find("error") != std::string::npos);
  }
}

TEST_CASE(
    "a lost device fails nobody: the error names it, and the next evaluation after its return is fine") {
  toy_bench bench;
  CHECK(bench.judge(10000).valid());
  try {
    const auto result = bench.judge(10000, "lose_device");
    FAIL("a lost device was blamed on the candidate: " << to_string(result.outcome));
  } catch (const error& failure) {
    CHECK(failure.code() == error_code::environment);
    INFO(failure.message());
    CHECK(failure.message().find("test double") != std::string::npos);
  }
  CHECK(bench.gpu.lost());
  // As long as it is away every evaluation says so.
  CHECK_THROWS_AS(bench.judge(9000), error);
  bench.gpu.mend();
  cuda_fitness again(toy::task_of("scale.yaml"), toy::quick_settings());
  CHECK(toy::evaluate(again, toy::scale_source(10000)).valid());
}

TEST_CASE("a device whose clock changes: pairs are thrown away and counted, or no time is taken") {
  SUBCASE("now and then") {
    toy_bench bench("clock_drop_every 90");  // a block of short cold calls has 20 readings
    const auto result = bench.judge(10000);
    CHECK(result.valid());
    CHECK(result.speedup == doctest::Approx(2).epsilon(0.02));
    CHECK(result.context.contains("discarded_pairs"));
  }
  SUBCASE("all the time, unless it rests") {
    toy_bench bench("clock_drop_every 2 rest_ms 10");
    const auto result = bench.judge(10000);
    CHECK(result.valid());
    CHECK(result.speedup == doctest::Approx(2).epsilon(0.02));
    CHECK(result.context.at("rest_before_readings_ms") == "15");
  }
  SUBCASE("within readings, which all begin at the same clock") {
    toy_bench bench("clock_drop_every 2");
    const auto result = bench.judge(10000);
    CHECK(result.valid());
    CHECK(result.speedup == doctest::Approx(2).epsilon(0.02));
    CHECK(result.context.at("rest_before_readings_ms") == "60");
  }
  SUBCASE("all the time") {
    toy_bench bench("clock_drop_every 3");
    int tries = 0;
    evaluation_request request;
    request.program = std::make_shared<const program>(program_of("cuda", toy::scale_source(10000)));
    request.measuring = [&](bool begins) { tries += begins ? 1 : 0; };
    for (const bool second_try : {true, false}) {
      request.second_try = second_try;
      try {
        bench.fitness.evaluate(request);
        FAIL("a time was taken on a device that cannot hold its clock");
      } catch (const error& failure) {
        CHECK(failure.code() == error_code::environment);
        CHECK(failure.message().find("clock") != std::string::npos);
      }
      CHECK(tries == (second_try ? 2 : 3));  // the device might have become quiet
    }
  }
}

TEST_CASE("a baseline that takes too long once, while it is timed, costs a block and not the run") {
  const fake_gpu gpu;
  auto changed = std::make_shared<task>(*toy::task_of("scale.yaml"));
  changed->baselines.front().source = program_of("cuda", toy::scale_source(20000, "hang_once"));
  cuda_fitness fitness(changed, toy::quick_settings());
  const auto judged = toy::evaluate(fitness, toy::scale_source(10000));
  CHECK_MESSAGE(judged.valid(), judged.feedback);
  CHECK(judged.speedup == doctest::Approx(2).epsilon(0.02));
  CHECK(judged.context.at("discarded_pairs") == "1");
}

TEST_CASE(
    "whoever waits for a device that another process holds is told so, is not charged, and can be stopped") {
  toy_bench bench;
  REQUIRE(bench.judge(10000).valid());
  int held = ::open(bench.gpu.lock_files().front().c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(held >= 0);
  // A child that was just forked has the descriptor of the last holder until it executes its program.
  bool taken = false;
  for (int i = 0; i < 250 && !taken; ++i) {
    taken = ::flock(held, LOCK_EX | LOCK_NB) == 0;
    if (!taken) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  REQUIRE(taken);
  std::stop_source stop;
  std::jthread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  const auto source = std::make_shared<const program>(program_of("cuda", toy::scale_source(9000)));
  try {
    bench.fitness.evaluate({.program = source, .stop = stop.get_token()});
    FAIL("the device was used while another process held it");
  } catch (const error& failure) {
    CHECK(failure.code() == error_code::interrupted);
  }
  std::vector<bool> told;
  const auto listen = [&](const std::optional<device_holder>& who) {
    told.push_back(who.has_value());
    if (!who) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (held >= 0) ::close(held);
    held = -1;
  };
  const auto late = bench.fitness.evaluate({.program = source, .waiting = listen});
  CHECK(late.valid());
  CHECK(told == std::vector{true, false});
  CHECK(late.cost.waited_s >= 0.3);
  CHECK(late.cost.device_s <= late.cost.wall_s - late.cost.waited_s);
}

TEST_CASE("a device with too little memory is a fault of the environment that says so") {
  for (const auto& [bytes, wanted] :
       {std::pair("33554432", "allocating device memory"), std::pair("268435456", "no room for an arena")}) {
    toy_bench bench(std::string("memory_bytes ") + bytes);
    try {
      bench.judge(10000);
      FAIL("an arena was made out of nothing");
    } catch (const error& failure) {
      CHECK(failure.code() == error_code::environment);
      INFO(failure.message());
      CHECK(failure.message().find(wanted) != std::string::npos);
      CHECK(failure.message().find("OUT_OF_MEMORY") != std::string::npos);
      const bool arena = failure.message().find("arena") != std::string::npos;
      CHECK(arena == (failure.hint().find("fitness.limits.workspace") != std::string::npos));
    }
  }
}

TEST_CASE("workers that ended while they waited for their turn are replaced") {
  toy_bench bench;
  REQUIRE(bench.judge(10000).valid());
  const auto waiting = worker_times();
  REQUIRE(waiting.size() >= 2);
  // The baseline keeps the one that was started first.
  for (auto one = std::next(waiting.begin()); one != waiting.end(); ++one) ::kill(one->first, SIGKILL);
  const auto next = bench.judge(11000);
  CHECK_MESSAGE(next.valid(), next.feedback);
  CHECK(next.speedup == doctest::Approx(20.0 / 11).epsilon(0.02));
}

TEST_CASE("the figures say what the device was held for") {
  toy_bench bench;
  const auto result = bench.judge(10000, "", evaluation_stage::confirmed);
  REQUIRE(result.valid());
  const auto figure = [&](const std::string& name) { return std::stod(result.context.at(name)); };
  CHECK(figure("held_s") == doctest::Approx(result.cost.device_s).epsilon(0.01));
  CHECK(figure("held_calls") > 10);
  // Both sides get new processes for every two pairs of a confirmation.
  std::size_t pairs = 0;
  for (const auto& w : result.workloads) pairs += w.samples.size();
  CHECK(figure("held_processes") > static_cast<double>(pairs) / 2);
  // Kernels are simulated and the rest is not, so that only this much is certain: most calls take 10 or 20 us
  // and the 8 us of the signal.
  const double kernels_s = figure("held_share_kernels") * figure("held_s");
  CHECK(kernels_s > figure("held_calls") * 10e-6);
  CHECK(kernels_s < figure("held_calls") * 40e-6);
  CHECK(figure("held_share_workers") > 0);
  CHECK(figure("held_share_workers") < 1);
  CHECK(figure("held_share_loads") > 0);
  CHECK(figure("held_share_loads") < figure("held_share_workers"));
  CHECK(figure("held_share_first_calls") > 0);
  CHECK(result.context.at("held_phases").find("checks 0.") == 0);
}

TEST_CASE("the parts of an evaluation's time do not exceed the whole") {
  toy_bench bench;
  const auto sum_of = [](const evaluation& e) {
    return std::accumulate(e.cost.parts_s.begin(), e.cost.parts_s.end(), 0.0,
                           [](double sum, const auto& part) { return sum + part.second; });
  };
  const auto first = bench.judge(40'000);
  REQUIRE_MESSAGE(first.valid(), first.feedback);
  CHECK(first.cost.parts_s.at("preparation of the task") > 0);
  const auto e = bench.judge(50'000);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK_FALSE(e.cost.parts_s.contains("preparation of the task"));
  for (const char* part :
       {"compile", "start of processes", "load", "first calls of processes", "calls of the candidate",
        "calls of the baselines", "preparation of calls and comparison of outputs"}) {
    INFO(part);
    CHECK(e.cost.parts_s.at(part) > 0);
  }
  CHECK(sum_of(e) > 0.7 * e.cost.wall_s);
  for (const auto* one : {&first, &e}) CHECK(sum_of(*one) <= 1.01 * one->cost.wall_s);
  // Where the device was never asked for.
  const auto wrong =
      toy::evaluate(bench.fitness, toy::scale_source(50'000) + "#error no\n", evaluation_stage::timed_full);
  CHECK(wrong.outcome == outcome::build_failed);
  CHECK(wrong.cost.parts_s.size() == 1);
  CHECK(wrong.cost.parts_s.contains("compile"));
  CHECK(wrong.cost.device_s == 0);
}

TEST_CASE("a confirmation gives a sustained time") {
  toy_bench bench;
  const auto result = bench.judge(10000, "", evaluation_stage::confirmed);
  REQUIRE(result.valid());
  for (const auto& w : result.workloads)
    CHECK(w.sustained_ns == doctest::Approx(w.hidden ? 0 : 10000).epsilon(0.01));
  CHECK(result.feedback.find("sustained") != std::string::npos);
  CHECK(bench.judge(11000).workloads.front().sustained_ns == 0);
}

TEST_CASE("the gate of determinism asks for the same bits") {
  const fake_gpu gpu;
  auto settings = toy::quick_settings();
  settings.gates.determinism = 3;
  cuda_fitness fitness(toy::task_of("scale.yaml"), settings);
  const auto same = toy::evaluate(fitness, toy::scale_source(10000));
  CHECK_MESSAGE(same.valid(), same.feedback);
  CHECK(same.context.at("determinism") == "3 runs gave the same bits");
  const auto other = toy::evaluate(fitness, toy::scale_source(10000, "random_bits"));
  CHECK(other.outcome == outcome::incorrect);
  CHECK(other.reasons.front() == "gives different bits in another run");
}

TEST_CASE("builds are kept on disk, and a damaged one is made again") {
  const fake_gpu gpu;
  const shell::scratch folder;
  cuda::cuda_compiler_settings settings;
  settings.sandbox = sandbox_mode::best;
  settings.cache_dir = folder / "builds";
  const cuda::cuda_build_request good{program_of("cuda", toy::scale_source(10000)), {"scale"}, "sm_90a", {}};
  const cuda::cuda_build_request bad{program_of("cuda", "#error\n"), {"scale"}, "sm_90a", {}};
  const auto first = cuda::cuda_compiler(settings).build(good);
  REQUIRE(first.ok);
  CHECK_FALSE(first.cached);
  const auto again = cuda::cuda_compiler(settings).build(good);
  CHECK(again.cached);
  CHECK(again.module == first.module);
  CHECK(again.compiler == first.compiler);
  CHECK_FALSE(cuda::cuda_compiler(settings).build(bad).cached);
  const auto refused = cuda::cuda_compiler(settings).build(bad);
  CHECK(refused.cached);
  CHECK_FALSE(refused.ok);
  CHECK(refused.diagnostics.find("error") != std::string::npos);
  for (const auto& file : std::filesystem::directory_iterator(settings.cache_dir))
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  const auto rebuilt = cuda::cuda_compiler(settings).build(good);
  CHECK_FALSE(rebuilt.cached);
  CHECK(rebuilt.module == first.module);
}

TEST_CASE("doctor finds the parts by trying them") {
  const fake_gpu gpu;
  for (const auto& part : cuda::probe_gpu()) {
    // Tools of NVIDIA's may be missing, as may what lets a worker have a /proc of its own.
    if (!part.name.starts_with("GPU worker") && part.name != "compute-sanitizer" && part.name != "ncu")
      CHECK_MESSAGE(part.there, part.name, ": ", part.detail);
  }
  const auto ceilings = cuda::calibrate_gpu("");
  REQUIRE(ceilings);
  CHECK(ceilings->copy_bytes_per_s == doctest::Approx(4e12).epsilon(0.05));
}
