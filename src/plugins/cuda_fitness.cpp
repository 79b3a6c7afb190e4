// The fitness function `cuda`: how a config's `fitness:` becomes an evaluator on GPUs.

#include "fitness/cuda/measure/cuda_fitness.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "src/base/settings/path_setting.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/fitness_settings.hpp"

namespace kevo {
namespace {

void cuda_device_from(settings& from, cuda_settings& made) {
  made.device = static_cast<int>(from.integer(
      "device",
      {.def = 0, .min = 0, .doc = "number of the GPU as the CUDA driver counts them, starting at 0"}));
  made.flags = from.texts("flags", {.doc = "additional NVRTC flags"}, made.flags);
  made.nvcc =
      from.text("nvcc", {.def = "",
                         .doc = "name or path of nvcc, which builds hosted programs and programs that choose "
                                "nvcc; empty: kevo searches for it; none: such programs are refused"});
  made.python =
      from.text("python", {.def = "",
                           .doc = "for programs in Triton: path of a Python that has Triton, or of a folder "
                                  "of packages with Triton; empty: kevo searches for one"});
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
                                      "variables, which could keep data from call to call"});
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
                                 .doc = "whether compute-sanitizer memcheck must find no invalid memory "
                                        "access; it runs on the workload with the least data"});
  made.gates.racecheck =
      gates.boolean("racecheck", {.def = false,
                                  .doc = "whether compute-sanitizer racecheck must find no race in shared "
                                         "memory; it runs on the workload with the least data"});
  made.gates.profile =
      gates.boolean("profile", {.def = false,
                                .doc = "whether candidates that are timed fully are also profiled with ncu, "
                                       "if it is installed; this never makes a candidate invalid"});
}

any_fitness cuda_from(settings& from, const build_context& context) {
  cuda_settings made;
  cuda_device_from(from, made);
  auto devices = devices_from(from, "device");
  cuda_limits_from(from, made);
  timing_from(from, made.timing);
  cuda_gates_from(from, made);
  made.cache_dir = path_from(
      from, "cache",
      {.def = "",
       .doc = "folder of the build and result cache and of the measured limits of the device, relative to "
              "the config; empty: a folder inside the run folder, or no cache outside a run"},
      context.directory);
  if (made.cache_dir.empty() && !context.run_directory.empty())
    made.cache_dir = context.run_directory + "/cache";
  if (!context.task) return {};
  if (devices) return cuda_fitness_pool(context.task, std::move(made), std::move(*devices));
  return any_fitness(std::make_shared<cuda_fitness>(context.task, std::move(made)));
}

}  // namespace

void register_cuda_fitness(registry& all) {
  all.fitness.add("cuda", cuda_from,
                  "builds CUDA candidates and times them on a GPU of this machine, with independent checking "
                  "of the outputs; compiles kernels with NVRTC or Triton, and hosted programs, which have "
                  "host code of their own, with nvcc");
}

}  // namespace kevo
