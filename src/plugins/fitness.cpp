// Fitness functions by name: how a config's `fitness:` becomes an evaluator.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "fitness/command/command_fitness.hpp"
#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/cuda/measure/cuda_fitness.hpp"
#include "fitness/torch/torch_fitness.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/base/text/text_file.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/sandbox_setting.hpp"

namespace kevo {

sandbox_mode sandbox_from(settings& from, const char* def) {
  const std::string word =
      from.text("sandbox", {.def = def,
                            .doc = "required: refuse to run if a sandbox layer is missing; best: use the "
                                   "layers that are available; off: no sandbox, for trusted code only",
                            .one_of = {"required", "best", "off"}});
  return word == "required" ? sandbox_mode::required
         : word == "best"   ? sandbox_mode::best
                            : sandbox_mode::off;
}

std::uint64_t bytes_from(settings& from, const char* key, std::int64_t def, const char* doc) {
  return static_cast<std::uint64_t>(from.integer(key, {.def = def, .min = 1, .unit = "bytes", .doc = doc}));
}

namespace {

double promising_from(settings& from) {
  return from.real("promising",
                   {.def = 1.0,
                    .min = 0.0,
                    .doc = "after the short timing, a candidate is timed fully only if the upper end of its "
                           "speedup interval reaches this fraction of the champion's speedup"});
}

void run_limits_from(settings& limits, cpu_limits& made) {
  made.first_call_s =
      limits.real("first_call", {.def = made.first_call_s,
                                 .above = 0.0,
                                 .unit = "s",
                                 .doc = "time limit of the first call with each workload size in a process, "
                                        "in which a candidate may tune itself"});
  made.memory_bytes = bytes_from(limits, "memory", static_cast<std::int64_t>(made.memory_bytes),
                                 "memory limit of the worker process, not counting libraries and stacks");
  made.source_bytes = bytes_from(limits, "source", static_cast<std::int64_t>(made.source_bytes),
                                 "size limit of a program, all its files together");
}

void timing_from(settings& from, timing_budget& made) {
  settings timing = from.child_or_empty("timing", "time spent on measuring");
  made.short_s = timing.real("short", {.def = made.short_s,
                                       .above = 0.0,
                                       .unit = "s",
                                       .doc = "duration of the short timing of each workload"});
  made.full_s = timing.real("full", {.def = made.full_s,
                                     .above = 0.0,
                                     .unit = "s",
                                     .doc = "maximum duration of the full timing of each workload"});
  made.sustained_s =
      timing.real("sustained", {.def = made.sustained_s,
                                .min = 0.0,
                                .unit = "s",
                                .doc = "a confirmation also runs each workload of the candidate alone for "
                                       "this long, to measure the sustained speed"});
  made.target_interval =
      timing.real("target_interval", {.def = made.target_interval,
                                      .above = 0.0,
                                      .doc = "full timing ends early when the interval of the speedup is "
                                             "narrower than this fraction of the speedup"});
}

// Inside a run, its folder.
std::string cache_from(settings& from, const build_context& context) {
  std::string folder =
      path_from(from, "cache",
                {.def = "",
                 .doc = "folder of the build and result cache, relative to the config; empty uses a "
                        "folder inside the run folder, and no cache outside a run"},
                context.directory);
  if (folder.empty() && !context.run_directory.empty()) folder = context.run_directory + "/cache";
  return folder;
}

any_fitness cpu_from(settings& from, const build_context& context) {
  const cpu_settings defaults;
  cpu_settings made;
  made.compiler = from.text("compiler", {.def = defaults.compiler, .doc = "C++ compiler for the candidates"});
  made.flags = from.texts(
      "flags",
      {.doc =
           "flags passed to the compiler; with -fopenmp or -ltbb, candidates may load that runtime library"},
      defaults.flags);
  made.threads = static_cast<int>(
      from.integer("threads", {.def = 1,
                               .min = 1,
                               .max = 1024,
                               .unit = "threads",
                               .doc = "maximum number of threads of a candidate, and number of processors "
                                      "that it runs on; with more than one, calls are timed in real time"}));
  const auto places = static_cast<std::size_t>(from.integer(
      "places", {.def = 1,
                 .min = 0,
                 .max = 1024,
                 .unit = "places",
                 .doc = "number of places, at which programs are measured at the same time. A place is a "
                        "set of cores on which no other run measures; `kevo doctor` says how many places "
                        "the machine has, which is the maximum. 0: as many as possible with one core per "
                        "place left for builds. With more than one, champions are confirmed at two "
                        "places. Set run.parallel.builds to about twice this number"}));
  made.sandbox = sandbox_from(from, "required");
  made.promising = promising_from(from);
  settings limits = from.child_or_empty("limits", "resource limits of a candidate");
  made.limits.build_s = limits.real(
      "build", {.def = defaults.limits.build_s, .above = 0.0, .unit = "s", .doc = "time limit of a build"});
  made.limits.call_s = limits.real(
      "call", {.def = defaults.limits.call_s, .above = 0.0, .unit = "s", .doc = "time limit of a call"});
  run_limits_from(limits, made.limits);
  timing_from(from, made.timing);
  made.cache_dir = cache_from(from, context);
  if (!context.task) return {};
  if (places != 1) return cpu_fitness_pool(context.task, std::move(made), places);
  return any_fitness(std::make_shared<cpu_fitness>(context.task, std::move(made)));
}

foreign_processes foreign_from(settings& from) {
  const auto word = from.text(
      "foreign_processes",
      {.def = "refuse",
       .doc = "what to do about processes of other programs on the GPU; refuse: wait for them to end, "
              "and stop the run if they do not; note: continue and record them in each evaluation",
       .one_of = {"refuse", "note"}});
  return word == "note" ? foreign_processes::note : foreign_processes::refuse;
}

/// The devices that share the evaluations: nothing if there is one alone, empty for all.
std::optional<std::vector<int>> devices_from(settings& from, const char* alone) {
  const settings_node* given = from.raw(
      "devices",
      std::string(
          "GPUs that evaluate at the same time, one evaluation on each: all, or a list of "
          "numbers ([0, 1]); if a GPU fails, the others continue. Champions are confirmed on two GPUs. "
          "Null: only the GPU named by ") +
          alone + ". Set run.parallel.builds to about twice the number of GPUs",
      "all or list of integers");
  if (given == nullptr || given->type == settings_node::kind::null) return std::nullopt;
  if (given->type == settings_node::kind::text && given->text == "all") return std::vector<int>();
  std::vector<int> numbers;
  for (const auto& one : given->items) {
    const bool number = one.type == settings_node::kind::integer && one.integer >= 0 && one.integer < 1024;
    const auto value = static_cast<int>(one.integer);
    if (!number || std::find(numbers.begin(), numbers.end(), value) != numbers.end())
      from.fail("devices", "expected different numbers of GPUs, from 0");
    numbers.push_back(value);
  }
  if (numbers.empty()) from.fail("devices", "expected all or a list of numbers such as [0, 1]");
  return numbers;
}

any_fitness torch_from(settings& from, const build_context& context) {
  torch_settings made;
  made.device =
      from.text("device", {.def = "cpu", .doc = "where the tensors are", .one_of = {"cpu", "cuda"}});
  made.gpu = static_cast<int>(from.integer(
      "gpu",
      {.def = 0, .min = 0, .doc = "with device: cuda, number of the GPU as the CUDA driver counts them"}));
  made.gpus = devices_from(from, "gpu");
  if (made.gpus && made.device != "cuda")
    from.fail("devices", "devices are GPUs, but the tensors are on the CPU", "write device: cuda");
  made.foreign = foreign_from(from);
  if (made.device == "cuda") {  // processes take longer to start than calls take
    made.timing.short_s = 1.5;
    made.timing.full_s = 8;
    made.timing.target_interval = 0.04;
  }
  made.python = from.text(
      "python",
      {.def = "auto", .doc = "a Python that has PyTorch, or a folder of packages; auto searches for it"});
  if (made.python == "auto") made.python.clear();
  made.threads = static_cast<int>(from.integer(
      "threads",
      {.def = 1,
       .min = 1,
       .max = 1024,
       .unit = "threads",
       .doc =
           "number of threads of PyTorch and maximum number of threads of a candidate; with more than one, "
           "calls are timed in real time"}));
  made.own_kernel =
      from.boolean("own_kernel", {.def = false,
                                  .doc = "refuse programs that contain no kernel of their own (a function "
                                         "with @triton.jit, or a __global__ function)"});
  made.own_kernel_share =
      from.real("own_kernel_share", {.def = 0.0,
                                     .min = 0.0,
                                     .max = 1.0,
                                     .doc = "with device: cuda, refuse programs that spend less than this "
                                            "fraction of their GPU time in their own kernels"});
  made.sandbox = sandbox_from(from, "required");
  made.promising = promising_from(from);
  settings limits = from.child_or_empty("limits", "resource limits of a candidate");
  made.limits.call_s = limits.real(
      "call", {.def = made.limits.call_s, .above = 0.0, .unit = "s", .doc = "time limit of a call"});
  made.limits.load_s =
      limits.real("load", {.def = made.limits.load_s,
                           .above = 0.0,
                           .unit = "s",
                           .doc = "time limit for executing the program and building its module"});
  run_limits_from(limits, made.limits);
  timing_from(from, made.timing);
  made.cache_dir = cache_from(from, context);
  if (!context.task) return {};
  return any_fitness(std::make_shared<torch_fitness>(context.task, made));
}

void cuda_device_from(settings& from, cuda_settings& made) {
  made.device = static_cast<int>(from.integer(
      "device",
      {.def = 0, .min = 0, .doc = "number of the GPU as the CUDA driver counts them, starting at 0"}));
  made.flags = from.texts("flags", {.doc = "additional NVRTC flags"}, made.flags);
  made.nvcc = from.text("nvcc", {.def = "",
                                 .doc = "name or path of nvcc, which builds hosted programs and programs "
                                        "that choose nvcc; empty searches for it; none refuses such "
                                        "programs"});
  made.python =
      from.text("python", {.def = "",
                           .doc = "path of a Python that has Triton, or of a folder of packages that "
                                  "contains Triton, which compiles programs in Triton; empty searches "
                                  "for it"});
  made.sandbox = sandbox_from(from, "required");
  made.promising = from.real(
      "promising", {.def = made.promising,
                    .min = 0.0,
                    .doc = "after the short timing, a candidate is timed fully only if the upper end of its "
                           "speedup interval reaches this fraction of the champion's speedup"});
  made.pool_fraction = from.real(
      "pool",
      {.def = made.pool_fraction,
       .above = 0.0,
       .doc = "fraction of the free device memory used for pre-generated input data and expected outputs"});
  made.foreign = foreign_from(from);
  made.allow_globals =
      from.boolean("globals", {.def = false,
                               .doc = "whether to accept programs that use the device heap or managed "
                                      "variables, in which state could be kept between calls"});
}

void cuda_limits_from(settings& from, cuda_settings& made) {
  settings limits = from.child_or_empty("limits", "resource limits of a candidate");
  made.limits.build_s = limits.real(
      "build", {.def = made.limits.build_s, .above = 0.0, .unit = "s", .doc = "time limit of a build"});
  made.limits.call_s = limits.real(
      "call", {.def = made.limits.call_s, .above = 0.0, .unit = "s", .doc = "time limit of a call"});
  made.limits.workspace_bytes =
      bytes_from(limits, "workspace", static_cast<std::int64_t>(made.limits.workspace_bytes),
                 "size limit of all workspaces of a call together");
  made.limits.memory_bytes =
      bytes_from(limits, "memory", static_cast<std::int64_t>(made.limits.memory_bytes),
                 "limit of the private host memory of a hosted program, not counting its CUDA context");
  made.limits.source_bytes = bytes_from(limits, "source", static_cast<std::int64_t>(made.limits.source_bytes),
                                        "size limit of a program, all its files together");
}

void cuda_timing_from(settings& from, cuda_settings& made) {
  settings timing = from.child_or_empty("timing", "time spent on measuring");
  made.timing.short_s = timing.real("short", {.def = made.timing.short_s,
                                              .above = 0.0,
                                              .unit = "s",
                                              .doc = "duration of the short timing of each workload"});
  made.timing.full_s = timing.real("full", {.def = made.timing.full_s,
                                            .above = 0.0,
                                            .unit = "s",
                                            .doc = "maximum duration of the full timing of each workload"});
  made.timing.sustained_s =
      timing.real("sustained", {.def = made.timing.sustained_s,
                                .min = 0.0,
                                .unit = "s",
                                .doc = "a confirmation also runs each workload of the candidate alone for "
                                       "this long, to measure the sustained speed"});
  made.timing.target_interval = timing.real(
      "target_interval", {.def = made.timing.target_interval,
                          .above = 0.0,
                          .doc = "full timing ends early when the interval of the speedup is narrower "
                                 "than this fraction of the speedup"});
  made.timing.full_blocks = static_cast<int>(timing.integer(
      "pairs", {.def = made.timing.full_blocks,
                .min = 4,
                .max = 1024,
                .unit = "pairs",
                .doc = "maximum number of candidate/baseline pairs in the full timing of each workload"}));
}

void cuda_gates_from(settings& from, cuda_settings& made) {
  settings gates = from.child_or_empty("gates", "additional checks that a candidate must pass");
  made.gates.determinism = static_cast<int>(
      gates.integer("determinism", {.def = 0,
                                    .min = 0,
                                    .max = 1000,
                                    .unit = "runs",
                                    .doc = "number of runs, each in a separate process, whose outputs must "
                                           "be identical bit for bit; 0 or 1 disables the check"}));
  made.gates.memcheck =
      gates.boolean("memcheck", {.def = false,
                                 .doc = "require that compute-sanitizer memcheck finds no invalid memory "
                                        "access; runs on the workload with the least data"});
  made.gates.racecheck =
      gates.boolean("racecheck", {.def = false,
                                  .doc = "require that compute-sanitizer racecheck finds no race in shared "
                                         "memory; runs on the workload with the least data"});
  made.gates.profile =
      gates.boolean("profile", {.def = false,
                                .doc = "also profile candidates that are timed fully, with ncu if it is "
                                       "installed; never makes a candidate invalid"});
}

any_fitness cuda_from(settings& from, const build_context& context) {
  cuda_settings made;
  cuda_device_from(from, made);
  auto devices = devices_from(from, "device");
  cuda_limits_from(from, made);
  cuda_timing_from(from, made);
  cuda_gates_from(from, made);
  made.cache_dir = path_from(
      from, "cache",
      {.def = "",
       .doc = "folder of the build and result cache and of the measured device ceilings, relative to the "
              "config; empty uses a folder inside the run folder, and no cache outside a run"},
      context.directory);
  if (made.cache_dir.empty() && !context.run_directory.empty())
    made.cache_dir = context.run_directory + "/cache";
  if (!context.task) return {};
  if (devices) return cuda_fitness_pool(context.task, std::move(made), std::move(*devices));
  return any_fitness(std::make_shared<cuda_fitness>(context.task, std::move(made)));
}

any_fitness command_from(settings& from, const build_context& context) {
  command_settings made;
  made.command = from.texts(
      "command", {.doc = "program and its arguments; {candidate} is replaced by the path of the candidate"});
  made.environment =
      from.texts("environment", {.doc = "environment variables of the program, each written NAME=value"},
                 std::vector<std::string>{});
  made.directory = path_from(from, "directory",
                             {.def = ".",
                              .doc = "working directory of the program, which it may read, relative to the "
                                     "config; empty uses the folder of the candidate"},
                             context.directory);
  if (!made.directory.empty() && !from.probing() && !std::filesystem::is_directory(made.directory))
    from.fail("directory", "there is no folder '" + made.directory + "'", path_rule);
  const auto mounts =
      paths_from(from, "mounts",
                 {.doc = "additional files and folders that the program may read, relative to the config"},
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
  settings limits = from.child_or_empty("limits", "resource limits of the program");
  made.limits.wall_s = limits.real(
      "wall", {.def = made.limits.wall_s, .above = 0.0, .unit = "s", .doc = "time limit of an evaluation"});
  made.limits.memory_bytes = static_cast<std::uint64_t>(
      limits.integer("memory", {.def = static_cast<std::int64_t>(made.limits.memory_bytes),
                                .min = 0,
                                .unit = "bytes",
                                .doc = "memory limit of the program; 0 means no limit"}));
  made.limits.output_bytes =
      bytes_from(limits, "output", static_cast<std::int64_t>(made.limits.output_bytes),
                 "size limit of the standard output and standard error of the program");
  if (from.probing()) return {};
  return any_fitness(command_fitness(std::move(made)));
}

}  // namespace

void register_fitness(registry& all) {
  all.fitness.add("cpu", cpu_from,
                  "builds C++ candidates and times them on the CPU of this machine, in a sandbox, with "
                  "independent checking of the outputs");
  all.fitness.add("cuda", cuda_from,
                  "builds CUDA candidates with NVRTC (hosted programs with nvcc, kernels in Triton with "
                  "Triton) and times them on a GPU of "
                  "this machine, with independent checking of the outputs");
  all.fitness.add(
      "torch", torch_from,
      "runs candidates in Python with PyTorch (modules and functions) on this machine, in a sandbox, with "
      "independent checking of the outputs");
  all.fitness.add("command", command_from,
                  "runs a program of your own that is given the path of a candidate and prints its "
                  "evaluation as a JSON object");
  register_remote_fitness(all);
}

}  // namespace kevo
