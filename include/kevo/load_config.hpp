#pragma once
// Evolution configs from paths: the session that a YAML file describes. The format is documented in
// docs/configs.md. Compiled: link kevo::kevo.

#include <string>
#include <vector>

#include <kevo/session.hpp>

namespace kevo {

class registry;  // kevo/registry.hpp

/// How a config is read.
struct config_options {
  std::vector<std::string> overrides;  ///< "section.key=value", as for `kevo run --set`
  /// The plug-ins that a config may name, for instance builtin_plugins() (kevo/plugins.hpp) with some of your
  /// own; null: builtin_plugins(). Needed during the call only.
  const registry* plugins = nullptr;
};

/// Reads a config for a new run: every part is made, and `folder` is `run.output` of the config, with a
/// number added if a run is there already. Start it with `start_session`.
/// @throws kevo::error (input, usage) with file, line, column and key for the first thing that is wrong
session_plan load_config(const std::string& path, const config_options& options = {});

/// Reads the config of a recorded run from its journal, to continue it with `resume_session`. Overrides may
/// name `stop` and `run.parallel` only.
/// @param task where the task file is now; empty: where it was
/// @throws kevo::error (input) also if the task is another one than when the run began
session_plan load_recorded_config(const std::string& folder, const config_options& options = {},
                                  const std::string& task = {});

}  // namespace kevo
