// timed
// The gates that NVIDIA's tools keep, with scripts in their place: each runs the program that it is given, as
// the tools do, and writes what they write.
// timeout: 300

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "fitness/cuda/tools/replay.hpp"
#include "fitness/cuda/tools/tool.hpp"
#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"
#include "tests/support/tool_texts.hpp"

using namespace kevo;
namespace fs = std::filesystem;

namespace {

/// Writes `text` by a here-document.
std::string writes(const std::string& text) {
  return "cat > \"$log\" <<'END_OF_LOG'\n" + text + "END_OF_LOG\n";
}

/// A script that takes the tools' options, runs the program and then goes on with `rest`.
std::string tool_script(const std::string& rest) {
  return "#!/bin/sh\n"
         "tool=none; code=0\n"
         "while [ $# -gt 0 ]; do\n"
         "  case $1 in\n"
         "    --tool) tool=$2; shift 2;;\n"
         "    --log-file) log=$2; shift 2;;\n"
         "    --error-exitcode) code=$2; shift 2;;\n"
         "    --csv) shift;;\n"
         "    --*) shift 2;;\n"
         "    *) break;;\n"
         "  esac\n"
         "done\n"
         "\"$@\"; ended=$?\n"
         "says() { grep -a -q \"// fake: $1\" \"$call\"; }\n"
         "call=$2\n" +
         rest;
}

std::string sanitizer_script() {
  return tool_script(
      "if says tool_fails; then exit 1; fi\n"
      "if [ $tool = memcheck ] && says out_of_bounds; then\n" +
      writes(tool_texts::memcheck_errors) +
      "exit $code\nfi\n"
      "if [ $tool = racecheck ] && says race; then\n" +
      writes(tool_texts::racecheck_errors) +
      "exit $code\nfi\n"
      "if [ $tool = racecheck ]; then\n" +
      writes(tool_texts::racecheck_clean) + "else\n" + writes(tool_texts::memcheck_clean) +
      "fi\nexit $ended\n");
}

/// NVIDIA's tools in a folder of their own.
class fake_tools {
 public:
  fake_tools() {
    fs::permissions(folder_.string(), fs::perms(0755));  // the sandbox's user must reach it
    put("compute-sanitizer", sanitizer_script());
    put("ncu", tool_script(writes(tool_texts::ncu_two_kernels) + "exit $ended\n"));
  }
  fake_tools(const fake_tools&) = delete;
  fake_tools& operator=(const fake_tools&) = delete;
  ~fake_tools() {
    ::unsetenv("KEVO_COMPUTE_SANITIZER");
    ::unsetenv("KEVO_NCU");
  }
  void put(const std::string& name, const std::string& script) {
    const std::string path = folder_ / name;
    shell::write_file(path, script);
    fs::permissions(path, fs::perms(0755));
    ::setenv(name == "ncu" ? "KEVO_NCU" : "KEVO_COMPUTE_SANITIZER", path.c_str(), 1);
  }

 private:
  shell::scratch folder_;
};

struct gated_bench {
  explicit gated_bench(const cuda_gates& gates)
      : fitness(toy::task_of("scale.yaml"), [&] {
          auto settings = toy::quick_settings();
          settings.gates = gates;
          return settings;
        }()) {}
  evaluation judge(int ns, const std::string& faults = {},
                   evaluation_stage wanted = evaluation_stage::timed_full) {
    return toy::evaluate(fitness, toy::scale_source(ns, faults), wanted);
  }
  fake_gpu gpu;
  fake_tools tools;
  cuda_fitness fitness;
};

constexpr cuda_gates both{.memcheck = true, .racecheck = true};

}  // namespace

TEST_CASE("what the checkers find is the candidate's failure, with the first report in its feedback") {
  gated_bench bench(both);
  const auto good = bench.judge(10000);
  CHECK_MESSAGE(good.valid(), good.feedback);
  CHECK(good.context.at("gates") == "memcheck, racecheck: no errors");

  const auto beside = bench.judge(10000, "out_of_bounds");
  CHECK(beside.outcome == outcome::incorrect);
  CHECK(beside.speedup == 0);
  CHECK(beside.reasons.front() == "memcheck found errors");
  CHECK(beside.feedback.find("12 errors, the first") != std::string::npos);
  CHECK(beside.feedback.find("Invalid __global__ write of size 4 bytes") != std::string::npos);
  CHECK(beside.feedback.find("by thread (244,0,0)") != std::string::npos);
  CHECK(beside.feedback.find("libcuda") == std::string::npos);

  const auto race = bench.judge(10000, "race");
  CHECK(race.outcome == outcome::incorrect);
  CHECK(race.reasons.front() == "racecheck found errors");
  CHECK(race.feedback.find("Race reported between Write access") != std::string::npos);
}

TEST_CASE("where there is no sandbox the gates hold, too") {
  const fake_gpu gpu;
  const fake_tools tools;
  auto settings = toy::quick_settings();
  settings.sandbox = sandbox_mode::off;
  settings.gates = both;
  cuda_fitness fitness(toy::task_of("scale.yaml"), settings);
  const auto good = toy::evaluate(fitness, toy::scale_source(10000));
  CHECK_MESSAGE(good.valid(), good.feedback);
  CHECK(toy::evaluate(fitness, toy::scale_source(10000, "race")).outcome == outcome::incorrect);
}

TEST_CASE("a candidate under which a checker fails costs that candidate alone; the baseline tells") {
  gated_bench bench({.memcheck = true});
  const auto odd = bench.judge(10000, "tool_fails");
  CHECK(odd.outcome == outcome::launch_failed);
  CHECK(odd.reasons.front() == "does not run under memcheck");
  CHECK(odd.feedback.find("exit code 1") != std::string::npos);
  CHECK(bench.judge(10500).valid());

  // From now on it fails under every program.
  bench.tools.put("compute-sanitizer", tool_script("exit 1\n"));
  try {
    const auto result = bench.judge(9000);
    FAIL("a broken checker was blamed on the candidate: " << to_string(result.outcome));
  } catch (const error& failure) {
    CHECK(failure.code() == error_code::environment);
    INFO(failure.message());
    CHECK(failure.message().find("memcheck no longer works") != std::string::npos);
  }
}

TEST_CASE("a checker that is missing or does not work is an error before anything is judged") {
  gated_bench bench(both);
  error_code expected = error_code::environment;
  std::string words;
  SUBCASE("missing") {
    ::setenv("KEVO_COMPUTE_SANITIZER", "/nowhere/compute-sanitizer", 1);
    words = "compute-sanitizer was not found";
  }
  SUBCASE("does not work") {
    bench.tools.put("compute-sanitizer", tool_script("echo no device >&2; exit 1\n"));
    words = "no device";
  }
  SUBCASE("finds errors in the baseline") {
    bench.tools.put("compute-sanitizer", tool_script(writes(tool_texts::memcheck_errors) + "exit $code\n"));
    expected = error_code::input;
    words = "fails the check memcheck";
  }
  try {
    const auto result = bench.judge(10000);
    FAIL("a candidate was judged: " << to_string(result.outcome));
  } catch (const error& failure) {
    CHECK(failure.code() == expected);
    CHECK_MESSAGE(failure.message().find(words) != std::string::npos, failure.message());
  }
}

TEST_CASE("what is timed fully is profiled: figures as measures and in words") {
  gated_bench bench({.profile = true});
  const auto fast = bench.judge(10000);
  REQUIRE_MESSAGE(fast.valid(), fast.feedback);
  REQUIRE(fast.stage >= evaluation_stage::timed_full);
  CHECK(fast.measures.at("dram_throughput") == doctest::Approx(0.7));
  CHECK(fast.measures.at("sm_throughput") == doctest::Approx(0.3));
  CHECK(fast.measures.at("achieved_occupancy") == doctest::Approx(0.6));
  CHECK(fast.measures.at("l2_hit_rate") == doctest::Approx(0.4));
  CHECK(fast.feedback.find("profile of large by ncu: DRAM at 70 %") != std::string::npos);
  const auto checked = bench.judge(11000, "", evaluation_stage::checked);
  CHECK(checked.valid());
  CHECK_FALSE(checked.measures.contains("dram_throughput"));
}

TEST_CASE("where ncu is missing or may not read the counters the driver's figures are given") {
  gated_bench bench({.profile = true});
  std::string why;
  SUBCASE("missing") {
    ::setenv("KEVO_NCU", "/nowhere/ncu", 1);
    why = "ncu was not found";
  }
  SUBCASE("not allowed") {
    bench.tools.put("ncu", tool_script(writes(tool_texts::ncu_not_allowed) + "exit 1\n"));
    why = "ERR_NVGPUCTRPERM";
  }
  SUBCASE("broken") {
    bench.tools.put("ncu", tool_script("exit 9\n"));
    why = "exit code 9";
  }
  const auto result = bench.judge(10000);
  REQUIRE_MESSAGE(result.valid(), result.feedback);
  CHECK_FALSE(result.measures.contains("dram_throughput"));
  const auto at = result.feedback.find("profile by the driver (");
  REQUIRE_MESSAGE(at != std::string::npos, result.feedback);
  const std::string line = result.feedback.substr(at, result.feedback.find('\n', at) - at);
  INFO(line);
  CHECK(line.find(why) != std::string::npos);
  CHECK(line.find("32 registers") != std::string::npos);
  CHECK(line.find("occupancy 100 %") != std::string::npos);
}

TEST_CASE("the program that the tools watch runs one call, and says how it ended") {
  const fake_gpu gpu;
  const shell::scratch folder;
  const auto compile = [](const std::string& faults) {
    cuda::cuda_compiler_settings settings;
    settings.sandbox = sandbox_mode::best;
    const auto built = cuda::cuda_compiler(settings).build(
        {program_of("cuda", toy::scale_source(10000, faults)), {"scale"}, "sm_90a", {}});
    REQUIRE(built.ok);
    return built.module;
  };
  const std::string id = gpu.uuid();
  const auto run = [&](const std::string& call, const std::string& device) {
    shell::write_file(folder / "call", call);
    return shell::run({KEVO_BINARY_DIR "/kevo-replay-cuda", folder / "call", device});
  };
  const auto call_of = [&](const std::string& faults) {
    cuda::replay one;
    one.code = compile(faults);
    one.what.inputs = one.what.outputs = 1;
    cuda::kernel_launch launch;
    launch.block = {256, 1, 1};
    cuda::scalar_argument size;
    size.bytes[0] = 100;
    size.size = 8;
    launch.arguments = {cuda::buffer_argument{0, 0}, cuda::buffer_argument{1, 0}, size};
    one.what.steps.emplace_back(launch);
    one.inputs = {std::string(400, '\0')};
    one.outputs = {400};
    return one;
  };
  const auto good = call_of("");
  const auto decoded = cuda::decode_replay(encode(good));
  CHECK(decoded.code == good.code);
  CHECK(decoded.what == good.what);
  CHECK(decoded.inputs == good.inputs);
  CHECK(decoded.outputs == good.outputs);

  const auto ran = run(encode(good), id);
  CHECK_MESSAGE(ran.code == 0, ran.err);
  const auto failed = run(encode(call_of("illegal_address")), id);
  CHECK_MESSAGE(failed.code == 10, failed.err);
  CHECK(failed.err.find("ILLEGAL_ADDRESS") != std::string::npos);
  CHECK(run(encode(call_of("refused")), id).code == 10);
  CHECK(run(encode(good), std::string(32, '0')).code == 3);
  CHECK(run(encode(good).substr(0, 100), id).code == 2);
}

TEST_CASE("doctor says which tools are there") {
  const fake_gpu gpu;
  const fake_tools tools;
  int there = 0;
  for (const auto& part : cuda::probe_gpu())
    there += (part.name == "compute-sanitizer" || part.name == "ncu") && part.there && !part.needed ? 1 : 0;
  CHECK(there == 2);
}
