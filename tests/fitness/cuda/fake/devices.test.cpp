// timed
// labels: slow
// timeout: 300
// Several simulated GPUs of one machine: evaluations are shared out, a device is lost in the middle of a run,
// and devices disagree.

#include <chrono>
#include <map>
#include <thread>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "fitness/cuda/measure/gpu_probe.hpp"
#include "src/journal/journal.hpp"
#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"
#include "tests/support/has.hpp"

using namespace std::chrono_literals;
using kevo::evaluation;

namespace {

/// A run that tunes one number, on all devices.
struct devices_run {
  explicit devices_run(const std::string& stop) {
    for (const char* file : {"scale.yaml", "scale.cu", "scale_reference.cu"})
      std::filesystem::copy_file(toy::folder + file, folder / file);
    shell::write_file(folder / "tuned.cu",
                      "#define FAKE_NS 30000  // kevo: {6000..40000 step 250}\n"
                      "#define SPARE 0  // kevo: {0..5000 step 1}\n"
                      "// kevo: launch scale<<<ceildiv(N, 256), 256>>>(x, y, N)\n"
                      "extern \"C\" __global__ void scale(const float* x, float* y, long long n) {}\n");
    std::string task = shell::read_file(folder / "scale.yaml");
    task.replace(task.find("seeds: [scale.cu]"), 17, "seeds: [tuned.cu]");
    shell::write_file(folder / "scale.yaml", task);
    shell::write_file(
        folder / "config.yaml",
        "run: {name: toy, seed: 3, output: run, parallel: {variations: 2, builds: 4}}\n"
        "task: scale.yaml\nfitness: {backend: cuda, devices: all, limits: {workspace: 1048576}, "
        "timing: {sustained: 0.02, pairs: 4, full: 2, target_interval: 0.3}, sandbox: " +
            std::string(toy::sandbox_here() == kevo::sandbox_mode::best ? "best" : "off") +
            "}\narchive: {type: top_k, k: 8}\nselect: {type: power_law}\n"
            "vary: {operators: [{type: tune}]}\nstop: " +
            stop + "\n");
  }
  shell::result kevo(std::vector<std::string> words) const {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
  /// How often each entry of a context has each value, in all evaluations so far.
  std::map<std::string, std::map<std::string, int>> contexts() const {
    std::map<std::string, std::map<std::string, int>> all;
    if (!kevo::journal::exists((folder / "run").string())) return all;
    const auto record = kevo::journal::open_read_only((folder / "run").string());
    record.for_each_event([&](const kevo::event& e) {
      const auto* told = std::get_if<kevo::evaluation_told>(&e.payload);
      if (told == nullptr) return;
      for (const auto& [key, value] : told->result->context) ++all[key][value];
    });
    return all;
  }
  shell::scratch folder;
};

evaluation confirmed_by(const kevo::any_fitness& all, int ns) {
  return all.evaluate({.program = std::make_shared<const kevo::program>(
                           kevo::single_file_program("cuda", "scale.cu", toy::scale_source(ns))),
                       .wanted = kevo::evaluation_stage::confirmed});
}

}  // namespace

TEST_CASE("a run on two devices uses both, says so, and confirms its champion on both") {
  const fake_gpu gpus("", 2);
  const devices_run run("{evaluations: 8}");
  const auto ended = run.kevo({"run", "config.yaml", "--json"});
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  auto found = run.contexts();
  CHECK(found["device_number"]["0"] >= 2);
  CHECK(found["device_number"]["1"] >= 2);
  CHECK(found["confirmed_on"]["0, 1"] + found["confirmed_on"]["1, 0"] >= 1);
  CHECK(!found.contains("devices_lost"));
  const auto shown = run.kevo({"show", "run"});
  CHECK_MESSAGE(has(shown.out, "evaluations, 1: "), shown.out);
  const auto json = run.kevo({"show", "run", "--json"});
  const auto use = boost::json::parse(json.out).at("devices").as_object();
  CHECK(use.at("evaluations").at("1").to_number<int>() == found["device_number"]["1"]);
  CHECK(use.at("lost").as_array().empty());
  const auto replayed = run.kevo({"run", "--replay", "run", "--json"});
  CHECK_MESSAGE(replayed.code == 0, replayed.out);
}

TEST_CASE("doctor tells of every device") {
  const fake_gpu gpus("", 2);
  std::map<std::string, kevo::cuda::gpu_finding> found;
  for (const auto& part : kevo::cuda::probe_gpu()) found[part.name] = part;
  CHECK(found.at("NVIDIA GPU").there);
  REQUIRE(found.contains("NVIDIA GPU 1"));
  CHECK(found.at("NVIDIA GPU 1").there);
  CHECK_FALSE(found.at("NVIDIA GPU 1").needed);
  CHECK(found.at("NVIDIA GPU 1").detail == found.at("NVIDIA GPU").detail);
  CHECK(found.contains("GPU 1 processes"));
  CHECK_FALSE(found.contains("NVIDIA GPU 2"));
}

TEST_CASE("a device that is lost in mid-run leaves the pool, and the run ends as it would have") {
  const fake_gpu gpus("", 2);
  const devices_run run("{evaluations: 10}");
  shell::running program(shell::kevo({"run", "config.yaml", "--json"}), run.folder.string());
  for (int i = 0; i < 600 && run.contexts()["device_number"]["1"] < 1; ++i)
    std::this_thread::sleep_for(100ms);
  gpus.lose(1);
  const auto ended = program.wait();
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  const auto all = boost::json::parse(ended.out).as_object();
  CHECK(all.at("evaluations").to_number<int>() >= 10);
  CHECK(all.at("valid").to_number<int>() == all.at("evaluations").to_number<int>());
  auto found = run.contexts();
  REQUIRE(found["devices_lost"].size() == 1);
  CHECK(has(found["devices_lost"].begin()->first, "device 1: "));
  CHECK(found["device_number"]["0"] > found["device_number"]["1"]);
  const auto shown = run.kevo({"show", "run"});
  CHECK_MESSAGE(has(shown.out, "devices that failed during the run"), shown.out);
}

TEST_CASE("devices that disagree about a program are named, and the worse result counts") {
  const fake_gpu gpus("", 2);
  gpus.set(1, "devices 2\nminimum_ns 15000\n");
  const auto all = kevo::cuda_fitness_pool(toy::task_of("scale.yaml"), toy::quick_settings(), {0, 1});
  const evaluation honest = confirmed_by(all, 20000);
  REQUIRE_MESSAGE(honest.valid(), honest.feedback);
  CHECK(!honest.context.contains("devices_disagree"));
  const evaluation doubtful = confirmed_by(all, 10000);
  REQUIRE_MESSAGE(doubtful.valid(), doubtful.feedback);
  CHECK(doubtful.speedup < 1.2 * honest.speedup * 20 / 15);
  REQUIRE(doubtful.context.contains("devices_disagree"));
  CHECK(has(doubtful.context.at("devices_disagree"), "device 0: "));
}

TEST_CASE("a device that is not there is an error that says so, and so is a wrong list") {
  const fake_gpu gpus("", 2);
  const devices_run run("{evaluations: 2}");
  const auto none = run.kevo({"run", "config.yaml", "--json", "--set", "fitness.devices=[7]"});
  CHECK_MESSAGE(none.code == 1, none.out);
  const auto wrong = run.kevo({"run", "config.yaml", "--json", "--set", "fitness.devices=[0, 0]"});
  CHECK_MESSAGE(wrong.code == 2, wrong.out);
  CHECK_MESSAGE(has(wrong.out, "expected different numbers"), wrong.out);
}
