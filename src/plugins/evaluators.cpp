// The fitness functions `openevolve` and `shinka`: how a config's `fitness:` becomes one.

#include <filesystem>
#include <utility>

#include <kevo/registry.hpp>

#include "fitness/evaluator/evaluator_fitness.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/fitness_settings.hpp"
#include "src/task/evaluator_folder.hpp"

namespace kevo {
namespace {

constexpr double longest_s = 1e6;

/// The folder, and what it says; while keys are only described, what any folder would.
evaluator_folder folder_from(settings& from, const build_context& context, evaluator_system system) {
  std::string folder = path_from(from, "folder",
                                 {.def = "",
                                  .doc = "folder that holds the evaluator, relative to the config; the "
                                         "evaluator may read it; empty: the folder of the task"},
                                 context.directory);
  const std::string named =
      from.text("evaluator", {.def = system == evaluator_system::shinka ? "evaluate.py" : "evaluator.py",
                              .doc = "file of the evaluator in that folder"});
  if (from.probing()) {
    evaluator_folder any;
    any.system = system;
    return any;
  }
  if (folder.empty() && context.task) {
    const std::filesystem::path task(context.task->file);
    folder = std::filesystem::is_directory(task) ? task.string() : task.parent_path().string();
  }
  evaluator_folder found;
  if (std::filesystem::exists(std::filesystem::path(folder) /
                              (system == evaluator_system::shinka ? "evaluate.py" : "evaluator.py"))) {
    found = read_evaluator_folder(folder, system);
  } else {
    found.system = system;
    found.folder =
        std::filesystem::absolute(folder.empty() ? context.directory : folder).lexically_normal().string();
  }
  found.evaluator = named;
  return found;
}

void openevolve_from(settings& from, const evaluator_folder& found, evaluator_settings& made) {
  made.cascade = from.boolean(
      "cascade", {.def = found.cascade,
                  .doc = "whether evaluate_stage1 to evaluate_stage3 are called instead of evaluate, if the "
                         "evaluator defines them; the default is the value in its config.yaml"});
  made.thresholds = from.reals("thresholds",
                               {.doc = "scores that stage 1, stage 2, ... must reach for the next stage to "
                                       "be called; the default is the list in the evaluator's config.yaml"},
                               found.thresholds);
  made.features =
      from.texts("features",
                 {.doc = "metrics that do not count when the score is the mean of the metrics; the default "
                         "is the list of feature dimensions in the evaluator's config.yaml"},
                 found.features);
}

void limits_from(settings& from, evaluator_settings& made) {
  settings limits = from.child_or_empty("limits", "resource limits of the evaluator and the candidate");
  made.limits.memory_bytes = static_cast<std::uint64_t>(
      limits.integer("memory", {.def = static_cast<std::int64_t>(made.limits.memory_bytes),
                                .min = 0,
                                .unit = "bytes",
                                .doc = "memory limit of each process; 0 means no limit"}));
  made.limits.output_bytes = bytes_from(limits, "output", static_cast<std::int64_t>(made.limits.output_bytes),
                                        "size limit of the standard output and standard error");
  made.limits.scratch_bytes = bytes_from(
      limits, "scratch", static_cast<std::int64_t>(made.limits.scratch_bytes), "size of the private /tmp");
  made.limits.shared_memory_bytes =
      bytes_from(limits, "shared_memory", static_cast<std::int64_t>(made.limits.shared_memory_bytes),
                 "size of the private /dev/shm, which process pools use");
  made.limits.processes =
      static_cast<int>(limits.integer("processes", {.def = made.limits.processes,
                                                    .min = 1,
                                                    .max = 1'000'000,
                                                    .unit = "processes",
                                                    .doc = "maximum number of processes and threads"}));
}

any_fitness evaluator_from(settings& from, const build_context& context, evaluator_system system) {
  const evaluator_folder found = folder_from(from, context, system);
  evaluator_settings made;
  made.system = system;
  made.folder = found.folder;
  made.evaluator = found.evaluator;
  made.python =
      from.text("python", {.def = "python3",
                           .doc = "Python interpreter: a name that is looked up in PATH, or a path relative "
                                  "to the config, for example into a virtual environment"});
  if (made.python.find('/') != std::string::npos)
    made.python = path_from(from, "python", {.def = "python3"}, context.directory);
  made.timeout_s = from.real("timeout", {.def = found.timeout_s,
                                         .max = longest_s,
                                         .above = 0.0,
                                         .unit = "s",
                                         .doc = "time limit of each stage; the default is the limit that the "
                                                "evaluator's folder gives, or 300 if it gives none"});
  if (system == evaluator_system::openevolve) openevolve_from(from, found, made);
  made.environment =
      from.texts("environment", {.doc = "environment variables of the evaluator, each written NAME=value"},
                 std::vector<std::string>{});
  for (const auto& one :
       paths_from(from, "mounts",
                  {.doc = "additional files and folders that the evaluator may read, relative to the config"},
                  context.directory, std::vector<std::string>{})) {
    const std::string path = std::filesystem::absolute(one).lexically_normal().string();
    if (!std::filesystem::exists(path))
      from.fail("mounts", "there is no file or folder '" + path + "'", path_rule);
    made.mounts.push_back({path, path});
  }
  // What earlier candidates were and scored is not this one's to read.
  if (!context.run_directory.empty()) made.hidden = {context.run_directory};
  made.sandbox = sandbox_from(from, "required");
  limits_from(from, made);
  if (from.probing()) return {};
  return any_fitness(evaluator_fitness(std::move(made)));
}

}  // namespace

void register_evaluators(registry& all) {
  all.fitness.add(
      "openevolve",
      [](settings& from, const build_context& context) {
        return evaluator_from(from, context, evaluator_system::openevolve);
      },
      "calls an evaluator that was written for OpenEvolve: evaluator.py with evaluate(path), or with one "
      "function for each stage");
  all.fitness.add(
      "shinka",
      [](settings& from, const build_context& context) {
        return evaluator_from(from, context, evaluator_system::shinka);
      },
      "calls an evaluator that was written for ShinkaEvolve: evaluate.py with the options --program_path and "
      "--results_dir");
}

}  // namespace kevo
