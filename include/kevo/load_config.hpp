#pragma once
// Loads evolution configs: makes the session that a YAML file describes. The format is documented in
// docs/configs.md. Compiled: link kevo::kevo.

#include <string>
#include <vector>

#include <kevo/session.hpp>

namespace kevo {

class registry;  // kevo/registry.hpp

/// Options for reading a config.
struct config_options {
  std::vector<std::string> overrides;  ///< each "section.key=value", as for `kevo run --set`
  /// The plug-ins that a config may name, for example builtin_plugins() (kevo/plugins.hpp) and your own; null
  /// means builtin_plugins(). It must stay valid during the call only.
  const registry* plugins = nullptr;
};

/// Reads a config for a new run and makes all its parts. `session_plan::folder` is `run.output` of the
/// config, with a number appended if that folder contains a run already. Start the run with `start_session`.
/// @throws kevo::error (input, usage) with file, line, column and key of the first mistake
session_plan load_config(const std::string& path, const config_options& options = {});

/// Reads the config of a recorded run from the journal in `folder`, to continue the run with
/// `resume_session`. Overrides may change only `stop`, `run.parallel`, `run.finish`, `llm.patience`, and
/// `url`, `key_env`, `key_file` and `ca_file` of a model.
/// @param task present path of the task file; empty if it has not moved
/// @throws kevo::error: input (also if the task differs from the one with which the run began), usage (an
/// override changes something else)
session_plan load_recorded_config(const std::string& folder, const config_options& options = {},
                                  const std::string& task = {});

}  // namespace kevo
