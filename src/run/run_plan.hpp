#pragma once
// An evolution config, decoded: everything that a run is made of. The format is documented in
// docs/configs.md.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kevo/registry.hpp>
#include <kevo/search.hpp>
#include <kevo/settings_node.hpp>

namespace kevo {

struct run_plan {
  std::string name;
  std::string output;  ///< folder of the run as configured
  std::uint64_t seed = 1;
  std::size_t variations = 2;  ///< operators that may work at once
  std::size_t builds = 2;      ///< evaluations that may be out at once
  std::string task_path;
  std::shared_ptr<const kevo::task> task;
  search_parts parts;  ///< without store and sinks
  search_settings search;
  std::shared_ptr<language_models> models;  ///< null if the config names none
  any_fitness fitness;                      ///< empty if not asked for
  std::string resolved_config;              ///< YAML, with every default
};

/// A config file with its overrides, not interpreted yet. Throws kevo::error (input, usage).
struct config_source {
  settings_node tree;
  std::string directory;  ///< relative paths start here
};
config_source load_config(const std::string& path, const std::vector<std::string>& overrides);

/// The keys of a config in Markdown: a table for the run and one for every plug-in, from what their decoders
/// say of them.
std::string config_reference();

/// Reads the sections of a config that say how to search (archive, select, vary, screen) into `parts`. Throws
/// kevo::error (input).
void decode_policies(settings& root, const registry& plugins, const build_context& context,
                     search_parts& parts);

/// Decodes a config: loads its plug-ins and its task, makes every role. `with_fitness`: a replay needs none.
/// `run_directory` is handed to the fitness function (caches, scratch). Throws kevo::error (input) that names
/// file, line, column and key for the first thing that is wrong.
run_plan plan_run(const config_source& config, const std::string& run_directory, bool with_fitness);

}  // namespace kevo
