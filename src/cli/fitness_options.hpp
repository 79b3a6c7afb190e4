#pragma once
// The evaluator of commands that search nothing: `--config FILE` takes the settings of a config, and
// `--set fitness.key=value` says what differs from them, or from the defaults.

#include <string>
#include <vector>

#include <kevo/registry.hpp>
#include <kevo/settings_node.hpp>

namespace CLI {
class App;
}

namespace kevo::cli {

/// What the user says of the evaluator.
struct fitness_options {
  std::string config;                  ///< file; empty: none
  std::vector<std::string> overrides;  ///< "fitness.key=value"
};

/// Adds `--config` and `--set` to a command. `given` must live until the command has run.
void add_fitness_options(CLI::App& verb, fitness_options& given);

/// The settings that `fitness_options` describe, ready to make an evaluator of any task.
struct fitness_choice {
  settings_node tree;           ///< a map with the one key `fitness`, which may be absent
  std::string directory = ".";  ///< relative paths in it start here
};

/// Reads the config, if there is one, and loads its plug-ins into `plugins`.
/// @throws kevo::error: usage (an assignment that is none), input (a config that cannot be read)
fitness_choice read_fitness_options(const fitness_options& given, registry& plugins);

/// The fitness function that these settings describe. Where no backend is named, it is `cuda` for a reference
/// in CUDA, `torch` for one in Python, and otherwise `cpu`. `context` must name the task; its directory is
/// replaced by that of the settings.
/// @throws kevo::error: input (keys or values that do not exist)
any_fitness make_fitness(const fitness_choice& choice, const registry& plugins, build_context context);

}  // namespace kevo::cli
