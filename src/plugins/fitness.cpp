// Fitness functions by name: how a config's `fitness:` becomes an evaluator.

#include <filesystem>

#include "fitness/command/command_fitness.hpp"
#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/cuda/measure/cuda_fitness.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/base/text/text_file.hpp"
#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

sandbox_mode sandbox_from(settings& from, const char* def) {
  const std::string word = from.text(
      "sandbox",
      {.def = def,
       .doc = "required refuses where a layer is missing, best takes what there is, off is for trusted code",
       .one_of = {"required", "best", "off"}});
  return word == "required" ? sandbox_mode::required
         : word == "best"   ? sandbox_mode::best
                            : sandbox_mode::off;
}

std::uint64_t bytes_from(settings& from, const char* key, std::int64_t def, const char* doc) {
  return static_cast<std::uint64_t>(from.integer(key, {.def = def, .min = 1, .unit = "bytes", .doc = doc}));
}

any_fitness cpu_from(settings& from, const build_context& context) {
  const cpu_settings defaults;
  cpu_settings made;
  made.compiler = from.text("compiler", {.def = defaults.compiler, .doc = "compiler of the candidates"});
  made.flags = from.texts("flags", {.doc = "its flags"}, defaults.flags);
  made.threads = static_cast<int>(from.integer(
      "threads", {.def = 1, .min = 1, .max = 1024, .unit = "threads", .doc = "threads a candidate may use"}));
  made.sandbox = sandbox_from(from, "required");
  made.promising =
      from.real("promising",
                {.def = defaults.promising,
                 .min = 0.0,
                 .doc = "a candidate is timed fully if its first look reaches this share of the champion"});
  settings limits = from.child_or_empty("limits", "what a candidate may use");
  made.limits.build_s =
      limits.real("build", {.def = defaults.limits.build_s, .above = 0.0, .unit = "s", .doc = "one build"});
  made.limits.call_s =
      limits.real("call", {.def = defaults.limits.call_s, .above = 0.0, .unit = "s", .doc = "one call"});
  made.limits.first_call_s =
      limits.real("first_call", {.def = defaults.limits.first_call_s,
                                 .above = 0.0,
                                 .unit = "s",
                                 .doc = "the first call of a size in a process, which may tune itself"});
  made.limits.memory_bytes =
      bytes_from(limits, "memory", static_cast<std::int64_t>(defaults.limits.memory_bytes),
                 "memory of the worker, besides libraries and stacks");
  made.limits.source_bytes = bytes_from(
      limits, "source", static_cast<std::int64_t>(defaults.limits.source_bytes), "all files of a program");
  settings timing = from.child_or_empty("timing", "how long measuring may take");
  made.timing.short_s = timing.real(
      "short",
      {.def = defaults.timing.short_s, .above = 0.0, .unit = "s", .doc = "first look, each workload"});
  made.timing.full_s = timing.real(
      "full",
      {.def = defaults.timing.full_s, .above = 0.0, .unit = "s", .doc = "full timing, each workload"});
  made.timing.sustained_s =
      timing.real("sustained", {.def = defaults.timing.sustained_s,
                                .min = 0.0,
                                .unit = "s",
                                .doc = "a confirmation goes on with the candidate alone, each workload"});
  made.timing.target_interval =
      timing.real("target_interval",
                  {.def = defaults.timing.target_interval,
                   .above = 0.0,
                   .doc = "full timing ends early when the interval of the speedup is narrower, relative"});
  made.cache_dir = path_from(
      from, "cache",
      {.def = "",
       .doc = "folder of the build and result cache; empty: a folder in the run, or none outside a run"},
      context.directory);
  if (made.cache_dir.empty() && !context.run_directory.empty())
    made.cache_dir = context.run_directory + "/cache";
  if (!context.task) return {};
  return any_fitness(std::make_shared<cpu_fitness>(context.task, std::move(made)));
}

void cuda_device_from(settings& from, cuda_settings& made) {
  made.device = static_cast<int>(
      from.integer("device", {.def = 0, .min = 0, .doc = "ordinal of the device, as the driver counts"}));
  made.flags = from.texts("flags", {.doc = "of NVRTC, besides kevo's own"}, made.flags);
  made.nvcc = from.text("nvcc", {.def = "",
                                 .doc = "name or path of the compiler of hosted programs; empty: looked for; "
                                        "none: hosted programs are not taken"});
  made.sandbox = sandbox_from(from, "required");
  made.promising =
      from.real("promising",
                {.def = made.promising,
                 .min = 0.0,
                 .doc = "a candidate is timed fully if its first look reaches this share of the champion"});
  made.pool_fraction = from.real("pool", {.def = made.pool_fraction,
                                          .above = 0.0,
                                          .doc = "share of the free device memory for the secret contents"});
  made.foreign =
      from.text(
          "foreign_processes",
          {.def = "refuse",
           .doc = "a process on the device that is not kevo's: refuse waits for it, then stops the run; "
                  "note says so in each evaluation",
           .one_of = {"refuse", "note"}}) == "note"
          ? foreign_processes::note
          : foreign_processes::refuse;
  made.allow_globals = from.boolean(
      "globals",
      {.def = false,
       .doc = "take programs that use the device's heap or managed variables, which could keep state"});
}

void cuda_limits_from(settings& from, cuda_settings& made) {
  settings limits = from.child_or_empty("limits", "what a candidate may use");
  made.limits.build_s =
      limits.real("build", {.def = made.limits.build_s, .above = 0.0, .unit = "s", .doc = "one build"});
  made.limits.call_s =
      limits.real("call", {.def = made.limits.call_s, .above = 0.0, .unit = "s", .doc = "one call"});
  made.limits.workspace_bytes =
      bytes_from(limits, "workspace", static_cast<std::int64_t>(made.limits.workspace_bytes),
                 "all workspaces of a call together");
  made.limits.memory_bytes = bytes_from(limits, "memory", static_cast<std::int64_t>(made.limits.memory_bytes),
                                        "private host memory of a hosted program, besides its context's");
  made.limits.source_bytes = bytes_from(limits, "source", static_cast<std::int64_t>(made.limits.source_bytes),
                                        "all files of a program");
}

void cuda_timing_from(settings& from, cuda_settings& made) {
  settings timing = from.child_or_empty("timing", "how long measuring may take");
  made.timing.short_s = timing.real(
      "short", {.def = made.timing.short_s, .above = 0.0, .unit = "s", .doc = "first look, each workload"});
  made.timing.full_s = timing.real(
      "full", {.def = made.timing.full_s, .above = 0.0, .unit = "s", .doc = "full timing, each workload"});
  made.timing.sustained_s =
      timing.real("sustained", {.def = made.timing.sustained_s,
                                .min = 0.0,
                                .unit = "s",
                                .doc = "a confirmation goes on with the candidate alone, each workload"});
  made.timing.target_interval = timing.real(
      "target_interval", {.def = made.timing.target_interval,
                          .above = 0.0,
                          .doc = "timing ends early when the interval of the speedup is narrower, relative"});
  made.timing.full_blocks = static_cast<int>(
      timing.integer("pairs", {.def = made.timing.full_blocks,
                               .min = 4,
                               .max = 1024,
                               .unit = "pairs",
                               .doc = "full timing, each workload, at most: while the interval is wider"}));
}

void cuda_gates_from(settings& from, cuda_settings& made) {
  settings gates = from.child_or_empty("gates", "further conditions of being valid");
  made.gates.determinism = static_cast<int>(gates.integer(
      "determinism", {.def = 0,
                      .min = 0,
                      .max = 1000,
                      .unit = "runs",
                      .doc = "must give the same bits, each in a process of its own; below 2: not asked"}));
  made.gates.memcheck = gates.boolean(
      "memcheck",
      {.def = false,
       .doc = "compute-sanitizer finds no bad memory access, on the workload with the least data"});
  made.gates.racecheck = gates.boolean(
      "racecheck", {.def = false, .doc = "compute-sanitizer finds no race in shared memory, on the same"});
  made.gates.profile =
      gates.boolean("profile", {.def = false,
                                .doc = "no condition: what is timed fully is also profiled, by ncu where it "
                                       "is there"});
}

any_fitness cuda_from(settings& from, const build_context& context) {
  cuda_settings made;
  cuda_device_from(from, made);
  cuda_limits_from(from, made);
  cuda_timing_from(from, made);
  cuda_gates_from(from, made);
  made.cache_dir = path_from(
      from, "cache",
      {.def = "",
       .doc = "folder of the build and result cache and the ceilings; empty: a folder in the run, or "
              "none outside a run"},
      context.directory);
  if (made.cache_dir.empty() && !context.run_directory.empty())
    made.cache_dir = context.run_directory + "/cache";
  if (!context.task) return {};
  return any_fitness(std::make_shared<cuda_fitness>(context.task, std::move(made)));
}

any_fitness command_from(settings& from, const build_context& context) {
  command_settings made;
  made.command = from.texts(
      "command", {.doc = "program and arguments; {candidate} is replaced by the candidate's path"});
  made.environment = from.texts("environment", {.doc = "NAME=value"}, std::vector<std::string>{});
  made.directory =
      path_from(from, "directory",
                {.def = ".",
                 .doc = "folder it runs in and may read, relative to the config; empty: the candidate's own"},
                context.directory);
  if (!made.directory.empty() && !from.probing() && !std::filesystem::is_directory(made.directory))
    from.fail("directory", "there is no folder '" + made.directory + "'", path_rule);
  const auto mounts = paths_from(
      from, "mounts", {.doc = "further files and folders that it may read, relative to the config"},
      context.directory, std::vector<std::string>{});
  for (const auto& one : mounts) {
    const std::string path = std::filesystem::absolute(one).lexically_normal().string();
    if (!std::filesystem::exists(path))
      from.fail("mounts", "there is no file or folder '" + path + "'", path_rule);
    made.mounts.push_back({path, path});
  }
  // What earlier candidates were and scored is not this one's to read.
  if (!context.run_directory.empty()) made.hidden = {context.run_directory};
  made.sandbox = sandbox_from(from, "best");
  settings limits = from.child_or_empty("limits", "what the program may use");
  made.limits.wall_s =
      limits.real("wall", {.def = made.limits.wall_s, .above = 0.0, .unit = "s", .doc = "one evaluation"});
  made.limits.memory_bytes = static_cast<std::uint64_t>(
      limits.integer("memory", {.def = static_cast<std::int64_t>(made.limits.memory_bytes),
                                .min = 0,
                                .unit = "bytes",
                                .doc = "0: no limit"}));
  made.limits.output_bytes = bytes_from(limits, "output", static_cast<std::int64_t>(made.limits.output_bytes),
                                        "standard output and error");
  if (from.probing()) return {};
  return any_fitness(command_fitness(std::move(made)));
}

}  // namespace

void register_fitness(registry& all) {
  all.fitness.add("cpu", cpu_from,
                  "C++ candidates, built and timed on this machine's processor, by the trust rules");
  all.fitness.add("cuda", cuda_from,
                  "CUDA candidates, built by NVRTC and timed on a GPU, by the trust rules");
  all.fitness.add("command", command_from,
                  "any program that takes a candidate's path and prints a JSON object");
}

}  // namespace kevo
