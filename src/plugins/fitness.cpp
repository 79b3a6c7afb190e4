// Fitness functions by name: how a config's `fitness:` becomes an evaluator.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kevo/fitness/draft_tools.hpp>

#include "fitness/command/command_fitness.hpp"
#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/torch/torch_fitness.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/base/text/text_file.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/fitness_settings.hpp"

namespace kevo {
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
                                 .doc = "time limit of the first call with each workload size in a process; "
                                        "in this call a candidate may tune itself"});
  made.memory_bytes = bytes_from(limits, "memory", static_cast<std::int64_t>(made.memory_bytes),
                                 "memory limit of the worker process, not counting libraries and stacks");
  made.source_bytes = bytes_from(limits, "source", static_cast<std::int64_t>(made.source_bytes),
                                 "size limit of a program, all its files together");
}

// Inside a run, its folder.
std::string cache_from(settings& from, const build_context& context) {
  std::string folder = path_from(from, "cache",
                                 {.def = "",
                                  .doc = "folder of the build and result cache, relative to the config; "
                                         "empty: a folder inside the run folder, or no cache outside a run"},
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
  made.threads = static_cast<int>(from.integer(
      "threads", {.def = 1,
                  .min = 1,
                  .max = 1024,
                  .unit = "threads",
                  .doc = "maximum number of threads of a candidate, and number of processors that it runs "
                         "on; with more than one, calls are timed in wall-clock time"}));
  const auto places = static_cast<std::size_t>(from.integer(
      "places", {.def = 1,
                 .min = 0,
                 .max = 1024,
                 .unit = "places",
                 .doc = "number of programs that are measured at the same time, each at a place of its own: "
                        "a set of cores on which no other run measures. The maximum is the number of places "
                        "of the machine, which `kevo doctor` prints. 0: as many as possible with one core "
                        "per place left for builds. With 2 or more, champions are confirmed at two places. "
                        "Set run.parallel.builds to about twice this number"}));
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
  const auto own = std::make_shared<cpu_fitness>(context.task, std::move(made));
  if (const auto tools = context.services.get<draft_tools>()) {
    tools->run = [own](const program& source, bool counters, const std::stop_token& stop) {
      return own->run_scratch(source, counters, stop);
    };
    tools->assembly = [own](const program& draft, const std::string& function, const std::stop_token& stop) {
      return own->assembly(draft, function, stop);
    };
  }
  return any_fitness(own);
}

any_fitness torch_from(settings& from, const build_context& context,
                       const std::shared_ptr<cuda::shared_pythons>& pythons) {
  torch_settings made;
  made.pythons = pythons;
  made.device =
      from.text("device", {.def = "cpu", .doc = "where the tensors are", .one_of = {"cpu", "cuda"}});
  made.gpu = static_cast<int>(from.integer(
      "gpu",
      {.def = 0, .min = 0, .doc = "with device: cuda, number of the GPU as the CUDA driver counts them"}));
  made.gpus = devices_from(from, "gpu");
  if (made.gpus && made.device != "cuda")
    from.fail("devices", "devices are GPUs, but the tensors are on the CPU", "write device: cuda");
  made.foreign = foreign_from(from);
  made.python = from.text(
      "python",
      {.def = "auto",
       .doc =
           "a Python that has PyTorch, or a folder of packages with PyTorch; auto: kevo searches for one"});
  if (made.python == "auto") made.python.clear();
  made.threads = static_cast<int>(
      from.integer("threads", {.def = 1,
                               .min = 1,
                               .max = 1024,
                               .unit = "threads",
                               .doc = "number of threads of PyTorch and maximum number of threads of a "
                                      "candidate; with more than one, calls are timed in wall-clock time"}));
  made.own_kernel =
      from.boolean("own_kernel", {.def = false,
                                  .doc = "whether programs that contain no kernel of their own (a function "
                                         "with @triton.jit, or a __global__ function) are refused"});
  made.own_kernel_share =
      from.real("own_kernel_share", {.def = 0.0,
                                     .min = 0.0,
                                     .max = 1.0,
                                     .doc = "with device: cuda, refuse programs that spend less than this "
                                            "fraction of their GPU time in their own kernels"});
  made.time = from.text("time", {.def = "device",
                                 .doc = "with device: cuda, the time that is compared: what a call takes on "
                                        "the device, or from the call to its synchronized result (host)",
                                 .one_of = {"device", "host"}});
  if (made.time == "host" && made.device != "cuda")
    from.fail("time", "on a CPU there is one time of a call, which is that of the host",
              "write device: cuda, or remove time");
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
  timing_from(from, made.device == "cuda" ? made.cuda_timing : made.timing);
  made.cache_dir = cache_from(from, context);
  if (!context.task) return {};
  return any_fitness(std::make_shared<torch_fitness>(context.task, made));
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
                              .doc = "working directory of the program, relative to the config; the program "
                                     "may read it; empty: the folder of the candidate"},
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
  register_cuda_fitness(all);
  all.fitness.add(
      "torch",
      [pythons = make_shared_pythons()](settings& from, const build_context& context) {
        return torch_from(from, context, pythons);
      },
      "runs candidates in Python with PyTorch (modules and functions) on this machine, in a sandbox, with "
      "independent checking of the outputs");
  all.fitness.add("command", command_from,
                  "runs a program of your own that is given the path of a candidate and prints its "
                  "evaluation as a JSON object");
  register_remote_fitness(all);
}

}  // namespace kevo
