// timed
// labels: slow
// `kevo run` on the test double of the GPU: a device that is lost on the way, Ctrl-C, resume;
// and what `kevo eval` says of a program without a kernel.
// timeout: 300

#include <chrono>
#include <thread>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

struct toy_run {
  explicit toy_run(const std::string& seed, const std::string& stop, int builds = 4) {
    for (const char* file : {"scale.yaml", "scale.cu", "scale_reference.cu"})
      std::filesystem::copy_file(toy::folder + file, folder / file);
    shell::write_file(folder / "tuned.cu", seed);
    std::string task = shell::read_file(folder / "scale.yaml");
    task.replace(task.find("seeds: [scale.cu]"), 17, "seeds: [tuned.cu]");
    shell::write_file(folder / "scale.yaml", task);
    shell::write_file(
        folder / "config.yaml",
        "run: {name: toy, seed: 3, output: run, parallel: {variations: 2, builds: " + std::to_string(builds) +
            "}}\n"
            "task: scale.yaml\n"
            "fitness: {backend: cuda, limits: {workspace: 1048576}, timing: {sustained: 0.02}, sandbox: " +
            std::string(toy::sandbox_here() == kevo::sandbox_mode::best ? "best" : "off") +
            "}\n"
            "archive: {type: top_k, k: 8}\nselect: {type: power_law}\n"
            "vary: {operators: [{type: tune}]}\nstop: " +
            stop + "\n");
  }
  shell::result kevo(std::vector<std::string> words) const {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
  /// How many evaluations its journal holds; 0 before there is one.
  int evaluations() const {
    const auto shown = kevo({"show", "run", "--json"});
    return shown.code == 0 ? json::parse(shown.out).at("evaluations").to_number<int>() : 0;
  }
  /// Until some evaluations have ended and others go on.
  void let_it_run() const {
    for (int i = 0; i < 600 && evaluations() < 3; ++i) std::this_thread::sleep_for(100ms);
    REQUIRE(evaluations() >= 3);
  }
  /// The setting that ends it after so many evaluations more.
  std::string stop_after(int more) const {
    return "stop={evaluations: " + std::to_string(evaluations() + more) + "}";
  }
  shell::scratch folder;
};

/// A seed with many settings, the fastest FAKE_NS 6000.
std::string tunable() {
  return "#define FAKE_NS 30000  // kevo: {6000..40000 step 250}\n"
         "#define SPARE 0  // kevo: {0..5000 step 1}\n"
         "// kevo: launch scale<<<ceildiv(N, 256), 256>>>(x, y, N)\n"
         "extern \"C\" __global__ void scale(const float* x, float* y, long long n) {}\n";
}

json::object parsed(const shell::result& r) {
  REQUIRE_MESSAGE(!r.out.empty(), r.err);
  return json::parse(r.out).as_object();
}

constexpr const char* torch_only = "import torch\n\n\ndef scale(x, y, n):\n    torch.mul(x, 2, out=y)\n";

}  // namespace

TEST_CASE("a run on the simulated device finds the fast settings and confirms its champion") {
  const fake_gpu gpu;
  const toy_run run(tunable(), "{evaluations: 12}");
  const auto ended = run.kevo({"run", "config.yaml", "--json"});
  CHECK_MESSAGE(ended.code == 0, ended.out);
  const auto all = parsed(ended);
  CHECK(all.at("evaluations").to_number<int>() >= 12);
  CHECK(all.at("best").as_object().at("speedup").to_number<double>() > 0.9);
  const auto replayed = run.kevo({"run", "--replay", "run", "--json"});
  CHECK_MESSAGE(replayed.code == 0, replayed.out);
}

TEST_CASE("a lost device ends a run with an error of the environment; resumed, it goes on with all it had") {
  const fake_gpu gpu;
  const toy_run run(tunable(), "{evaluations: 100000}");
  shell::running program(shell::kevo({"run", "config.yaml", "--json"}), run.folder.string());
  run.let_it_run();
  gpu.lose();
  const auto ended = program.wait();
  CHECK_MESSAGE(ended.code == 1, ended.out, ended.err);
  const auto told = parsed(ended).at("error").as_object();
  CHECK(told.at("code").as_string() == "environment");
  CHECK_MESSAGE(told.at("message").as_string().find("test double") != std::string::npos, ended.out);

  const auto still = run.kevo({"resume", "run", "--json"});
  CHECK_MESSAGE(still.code == 1, still.out);  // it is away still

  gpu.mend();
  const auto resumed = run.kevo({"resume", "run", "--json", "--set", run.stop_after(3)});
  CHECK_MESSAGE(resumed.code == 0, resumed.out);
  const auto all = parsed(resumed);
  CHECK(all.at("evaluations").to_number<int>() >= 3);
  CHECK(all.at("valid").to_number<int>() == all.at("evaluations").to_number<int>());
}

TEST_CASE("a kevo-device that is killed ends a run with an error of the environment; resumed, it goes on") {
  const fake_gpu gpu;
  const toy_run run(tunable(), "{evaluations: 100000}");
  shell::running program(shell::kevo({"run", "config.yaml", "--json"}), run.folder.string());
  run.let_it_run();
  const auto device = shell::run({"/bin/sh", "-c",
                                  "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ 2> /dev/null | "
                                  "grep -q '^LD_PRELOAD=" +
                                      gpu.folder() + "' && basename $p; done"});
  REQUIRE_MESSAGE(!device.out.empty(), device.err);
  CHECK(::kill(std::stoi(device.out), SIGKILL) == 0);
  const auto ended = program.wait();
  CHECK_MESSAGE(ended.code == 1, ended.out, ended.err);
  const auto told = parsed(ended).at("error").as_object();
  CHECK(told.at("code").as_string() == "environment");
  CHECK_MESSAGE(told.at("message").as_string().find("kevo-device has ended") != std::string::npos, ended.out);
  const auto resumed = run.kevo({"resume", "run", "--json", "--set", run.stop_after(3)});
  CHECK_MESSAGE(resumed.code == 0, resumed.out);
}

TEST_CASE("Ctrl-C ends a run soon: what waits for the device is left to a resume") {
  const fake_gpu gpu;
  const toy_run run(tunable(), "{evaluations: 100000}");
  shell::running program(shell::kevo({"run", "config.yaml", "--json"}), run.folder.string());
  run.let_it_run();
  const auto asked = std::chrono::steady_clock::now();
  program.signal(SIGINT);
  const auto ended = program.wait();
  const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
  CHECK_MESSAGE(ended.code == 130, ended.err);
  CHECK(waited < 20);
  MESSAGE("ended ", waited, " s after Ctrl-C");
  const auto before = parsed(ended);
  const auto resumed =
      run.kevo({"resume", "run", "--json", "--set",
                "stop={evaluations: " + std::to_string(before.at("evaluations").to_number<int>() + 8) + "}"});
  CHECK_MESSAGE(resumed.code == 0, resumed.out);
  CHECK(parsed(resumed).at("evaluations").to_number<int>() > before.at("evaluations").to_number<int>());
  const auto replayed = run.kevo({"run", "--replay", "run", "--json"});
  CHECK_MESSAGE(replayed.code == 0, replayed.out);
}

TEST_CASE("a stop rule ends a run soon: what waits for the device is left to a resume, and all replays") {
  const fake_gpu gpu;
  const toy_run run(tunable(), "{evaluations: 8}", 16);
  const auto ended = run.kevo({"run", "config.yaml", "--json"});
  REQUIRE_MESSAGE(ended.code == 0, ended.out, ended.err);
  const auto all = parsed(ended);
  const auto evaluations = all.at("evaluations").to_number<int>();
  CHECK(evaluations >= 8);
  CHECK(evaluations < 8 + 8);  // and not all of the 15 that waited
  CHECK(all.at("best").as_object().at("speedup").to_number<double>() > 0.6);  // at least the seed
  const auto replayed = run.kevo({"run", "--replay", "run", "--json"});
  CHECK_MESSAGE(replayed.code == 0, replayed.out);
  const auto resumed = run.kevo({"resume", "run", "--json", "--set", "stop={evaluations: 20}"});
  REQUIRE_MESSAGE(resumed.code == 0, resumed.out, resumed.err);
  CHECK(parsed(resumed).at("evaluations").to_number<int>() >= 20);
  const auto again = run.kevo({"run", "--replay", "run", "--json"});
  CHECK_MESSAGE(again.code == 0, again.out);
}

TEST_CASE("kevo eval refuses a program that only calls PyTorch and says that it has no kernel") {
  const fake_gpu gpu;
  const shell::scratch folder;
  shell::write_file(folder / "only_torch.py", torch_only);
  const std::string sandbox = toy::sandbox_here() == kevo::sandbox_mode::best ? "best" : "off";
  const auto eval = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"eval", toy::folder + "scale.yaml", (folder / "only_torch.py").string(),
                                      "--set", "fitness={backend: cuda, sandbox: " + sandbox + "}"};
    words.insert(words.end(), more.begin(), more.end());
    return shell::run(shell::kevo(words), folder.string());
  };
  const auto words = eval({});
  CHECK_MESSAGE(words.out.find("build_failed") != std::string::npos, words.out << words.err);
  CHECK_MESSAGE(
      words.out.find("the program has no kernel: a program in Python needs functions with @triton.jit") !=
          std::string::npos,
      words.out << words.err);
  const auto said = json::parse(eval({"--json"}).out);
  CHECK(said.at("outcome").as_string() == "build_failed");
}

TEST_CASE("so does an evaluation of a program that an operator calls Triton") {
  const fake_gpu gpu;
  kevo::cuda_fitness fitness(toy::task_of("scale.yaml"), toy::quick_settings());
  const auto e = fitness.evaluate(
      {.program = std::make_shared<const kevo::program>(kevo::program_of("triton", torch_only)),
       .wanted = kevo::evaluation_stage::timed_full});
  CHECK_FALSE(e.valid());
  REQUIRE(!e.reasons.empty());
  CHECK_MESSAGE(e.reasons.front().find("the program has no kernel") != std::string::npos, e.reasons.front());
}
