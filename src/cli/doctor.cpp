// kevo doctor: what is in force on this machine, and what is missing for what.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cuda/measure/gpu_probe.hpp"
#include "fitness/machine/ceilings.hpp"
#include "fitness/machine/core_plan.hpp"
#include "fitness/machine/cores.hpp"
#include "fitness/machine/hardware_counters.hpp"
#include "fitness/machine/memory_watch.hpp"
#include "fitness/process/process.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/python_server.hpp"
#include "src/base/process/find_program.hpp"
#include "src/cli/command.hpp"
#include "src/run/model_checks.hpp"

namespace kevo::cli {
namespace {

struct machine_fact {
  std::string name;
  bool there = false;
  bool needed = false;
  std::string detail;
};

/// The first line a program prints; nothing if it cannot be run.
std::string first_line_of(std::vector<std::string> command) {
  launch_spec spec;
  spec.argv = std::move(command);
  spec.argv.front() = find_program(spec.argv.front());
  if (spec.argv.front().empty()) return {};
  spec.sandbox = sandbox_mode::off;
  spec.limits.wall_s = 5;
  try {
    const exit_report report = launch(spec).wait();
    return report.out.substr(0, report.out.find('\n'));
  } catch (const error&) {
    return {};
  }
}

/// How fast memory is read that no cache holds, now: readings within some milliseconds.
machine_fact memory_now() {
  constexpr std::size_t bytes = std::size_t{1} << 20U;
  const auto memory = std::make_unique<std::byte[]>(bytes);
  std::vector<double> readings;
  for (int i = 0; i < 12; ++i) {
    if (const auto reading = read_bandwidth(memory.get(), bytes)) readings.push_back(*reading / 1e9);
  }
  if (readings.empty())
    return {"memory", false, false, "this processor cannot empty its caches, so that memory is not watched"};
  const auto [least, most] = std::minmax_element(readings.begin(), readings.end());
  return {"memory", true, false,
          fmt::format("one core reads {:.1f} GB/s from the memory{}", *most,
                      *least < 0.7 * *most
                          ? fmt::format(", at times only {:.1f}: other programs use the memory", *least)
                          : "")};
}

std::vector<machine_fact> look_around() {
  std::vector<machine_fact> all;
  for (const auto& layer : probe_sandbox_again()) {
    all.push_back({"sandbox: " + layer.name, layer.in_force, layer.required, layer.detail});
  }
  bool any_compiler = false;
  for (const char* name : {"g++", "clang++"}) {
    const std::string version = first_line_of({name, "--version"});
    any_compiler = any_compiler || !version.empty();
    all.push_back(
        {std::string("compiler: ") + name, !version.empty(), false, version.empty() ? "not found" : version});
  }
  if (!any_compiler) {
    all.back().needed = true;
    all.back().detail = "neither g++ nor clang++ was found; install one of them";
  }
  const std::string objdump = first_line_of({"objdump", "--version"});
  all.push_back({"objdump", !objdump.empty(), false,
                 objdump.empty()
                     ? "not found; without it vector instructions are not counted (install binutils)"
                     : objdump});
  all.push_back(memory_now());
  const std::string no_counters = missing_counters();
  all.push_back({"hardware counters", no_counters.empty(), false,
                 no_counters.empty() ? "instructions, cycles and cache misses can be counted (optional: the "
                                       "tool run of the operator agent uses them)"
                                     : no_counters + " (optional)"});
  for (const auto& [name, use] : {std::pair("valgrind", "counts instructions and cache misses"),
                                  std::pair("llvm-mca", "analyses loops")}) {
    const std::string version = first_line_of({name, "--version"});
    all.push_back(
        {name, !version.empty(), false,
         version.empty() ? fmt::format("not found (optional; it {} for the operator agent)", use) : version});
  }
  try {
    const auto found = torch::find_torch({}, contains(sandbox_mode::best));
    all.push_back(
        {"PyTorch", true, false, found.version + " in " + found.packages + ", for " + found.python});
  } catch (const error& missing) {
    all.push_back({"PyTorch", false, false, missing.message() + "; " + missing.hint()});
  }
  for (const auto& one : cuda::probe_gpu()) all.push_back({one.name, one.there, false, one.detail});
  return all;
}

/// What happens to builds while a candidate is timed, where they have no processor of their own.
std::string builds_meanwhile(const core_plan& cores) {
  if (!cores.few) return "";
  if (cores.shared) return "; builds are paused while a candidate is timed";
  return fmt::format("; while a candidate is timed, builds have only what is left of CPU {}",
                     cores.controller);
}

void print(const std::vector<machine_fact>& all, const core_plan& cores, const ceilings& measured,
           const std::optional<cuda::device_ceilings>& gpu, bool calibrated) {
  fmt::print("device: {}\n", device_name());
  fmt::print("measuring: the controller runs on CPU {}, candidates on CPU {}{}{}\n", cores.controller,
             cores.workers.empty() ? -1 : cores.workers.front(),
             cores.shared ? "; they share one CPU, so that timing is less precise" : "",
             builds_meanwhile(cores));
  const std::size_t places = measuring_places(physical_cores(), 1);
  fmt::print("           {}\n",
             places == 1 ? std::string("several runs on this machine measure in turn")
                         : fmt::format("up to {} runs measure side by side, each on cores of its own; "
                                       "further ones measure in turn",
                                       places));
  for (const auto& one : all) {
    fmt::print("{:>8}  {:24} {}\n",
               one.there    ? "ok"
               : one.needed ? "MISSING"
                            : "absent",
               one.name, one.detail);
  }
  if (!calibrated) return;
  fmt::print("measured ceilings of one core: {:.1f} GFLOP/s float32", measured.float32_flops_per_s / 1e9);
  for (const auto& point : measured.bandwidths) {
    fmt::print(", {:.1f} GB/s when copying {} KiB", point.bytes_per_s / 1e9, point.bytes / 1024);
  }
  fmt::print("\n");
  if (gpu) {
    fmt::print(
        "measured ceilings of the GPU: {:.1f} TFLOP/s float32, {:.0f} GB/s when copying (bytes read plus "
        "bytes written), {:.0f} GB/s when reading\n",
        gpu->float32_flops_per_s / 1e12, gpu->copy_bytes_per_s / 1e9, gpu->read_bytes_per_s / 1e9);
  }
}

void print_json(const std::vector<machine_fact>& all, const core_plan& cores, const ceilings& measured,
                const std::optional<cuda::device_ceilings>& gpu, bool calibrated) {
  namespace json = boost::json;
  json::array findings;
  for (const auto& one : all) {
    findings.push_back(json::object{
        {"name", one.name}, {"there", one.there}, {"needed", one.needed}, {"detail", one.detail}});
  }
  json::object whole{
      {"device", device_name()},
      {"coarse_timing", cores.shared},
      {"pauses_builds", cores.few && cores.shared},
      {"measuring_places", measuring_places(physical_cores(), 1)},
      {"findings", std::move(findings)},
      {"float32_flops_per_s", calibrated ? json::value(measured.float32_flops_per_s) : json::value(nullptr)},
      {"memory_bytes_per_s", calibrated ? json::value(measured.memory_bandwidth()) : json::value(nullptr)},
      {"gpu_float32_flops_per_s", gpu ? json::value(gpu->float32_flops_per_s) : json::value(nullptr)},
      {"gpu_copy_bytes_per_s", gpu ? json::value(gpu->copy_bytes_per_s) : json::value(nullptr)},
      {"gpu_read_bytes_per_s", gpu ? json::value(gpu->read_bytes_per_s) : json::value(nullptr)}};
  fmt::print("{}\n", json::serialize(whole));
}

}  // namespace

void add_doctor(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand(
      "doctor",
      "Check this machine: sandbox layers, compilers, tools and GPU; and the language models of a config");
  auto calibrate = std::make_shared<bool>(false);
  auto config = std::make_shared<std::string>();
  verb->add_option("config", *config, "Config file whose language models are each asked once");
  verb->add_flag("--calibrate", *calibrate,
                 "Also measure the peak compute rate and memory bandwidth of the CPU and the GPU");
  add_json_flag(*verb, shared);
  verb->callback([calibrate, config, &shared] {
    auto all = look_around();
    if (!config->empty()) {
      for (const auto& one : check_models_of(read_config(*config, {})))
        all.push_back({"language model: " + one.model, one.works, true, one.said});
    }
    const ceilings measured = *calibrate ? measure_ceilings() : ceilings{};
    const auto gpu = *calibrate ? cuda::calibrate_gpu(cuda::user_cache_folder()) : std::nullopt;
    (shared.json ? print_json : print)(all, plan_cores(1), measured, gpu, *calibrate);
    for (const auto& one : all) {
      if (one.needed && !one.there) shared.exit_code = 1;
    }
  });
}

}  // namespace kevo::cli
