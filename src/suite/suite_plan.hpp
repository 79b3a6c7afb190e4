#pragma once
// A suite file, decoded: tasks with their solutions, or with a config that evolves them, and the settings
// under which all are evaluated. The format is documented in docs/bench.md.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/error.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/registry.hpp>
#include <kevo/settings_node.hpp>

#include "src/run/run_plan.hpp"
#include "src/suite/scores.hpp"

namespace kevo {

/// One solution of a task: a source file, or a folder with a program of several files.
struct suite_solution {
  std::string name;  ///< the file's name without its ending, or the folder's; unique among those of a task
  std::string file;
};

/// A task of the suite.
struct suite_task {
  std::string name;  ///< unique within the suite
  std::string file;
  error_place named;  ///< where the suite file names it
  std::string level;
  std::string category;
  std::optional<std::int64_t> problem;  ///< number of the problem in the published suite
  std::vector<suite_solution> solutions;
  std::map<std::string, std::string> tunables;  ///< values that all solutions of this task get
};

/// How tasks are evolved before the best program is evaluated.
struct suite_evolution {
  config_source config;                 ///< the template; its task, stop rule and folder are replaced
  std::optional<settings_node> budget;  ///< a stop rule; nothing: the template's own
};

struct suite_plan {
  std::string name;
  std::string file;       ///< of the suite
  std::string directory;  ///< of the suite file
  std::string output;
  evaluation_stage stage = evaluation_stage::confirmed;
  std::size_t parallel = 2;
  std::vector<std::int64_t> devices;  ///< numbers of GPUs; empty: the backend's default
  score_settings scores;
  settings_node fitness;
  std::string fitness_directory;  ///< relative paths in `fitness` start here
  std::optional<suite_evolution> evolve;
  std::vector<suite_task> tasks;
  std::shared_ptr<const registry> plugins;
  std::string resolved;  ///< YAML, with every default
};

/// Reads and decodes a suite file. Tasks and solutions are found, but not loaded.
/// @throws kevo::error (input, usage) with file, line and key for the first thing that is wrong
suite_plan load_suite(const std::string& path, const std::vector<std::string>& overrides = {});

/// The fitness settings for one device: `fitness.device` is replaced where the suite lists devices.
settings_node fitness_for(const suite_plan& plan, std::optional<std::int64_t> device);

/// The fitness function of a task. @throws kevo::error (input) for settings that do not exist; whatever the
/// backend refuses about the task
any_fitness make_fitness(const suite_plan& plan, std::shared_ptr<const task> t,
                         std::optional<std::int64_t> device);

}  // namespace kevo
