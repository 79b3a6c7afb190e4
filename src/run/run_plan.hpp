#pragma once
// An evolution config, decoded into a session_plan. The format is documented in docs/configs.md.

#include <string>
#include <vector>

#include <kevo/journal.hpp>
#include <kevo/load_config.hpp>
#include <kevo/registry.hpp>
#include <kevo/session.hpp>
#include <kevo/settings_node.hpp>

namespace kevo {

/// A config file with its overrides, not interpreted yet. Throws kevo::error (input, usage).
struct config_source {
  settings_node tree;
  std::string directory;  ///< relative paths start here
};

/// Reads a config file. Throws kevo::error (input, usage).
config_source read_config(const std::string& path, const std::vector<std::string>& overrides);

/// The keys of a config in Markdown: a table for the run and one for every plug-in, from what their decoders
/// say of them.
std::string config_reference();

/// Reads the sections of a config that say how to search (archive, select, vary, filter, screen) into
/// `parts`. Throws kevo::error (input).
void decode_policies(settings& root, const registry& plugins, const build_context& context,
                     search_parts& parts);

/// What a plan is decoded for.
enum class plan_use : std::uint8_t {
  session,  ///< to run: with a fitness function, and keys of models that must be there
  replay,   ///< to decide again: no fitness function, no model is asked
};

/// Decodes a config: loads its plug-ins and its task, makes every role.
/// @param run_directory handed to the fitness function (caches, scratch); the plan's folder, or the config's
/// `run.output` if it is empty
/// @throws kevo::error (input) that names file, line, column and key for the first thing that is wrong
session_plan decode_plan(const config_source& config, const config_options& options,
                         const std::string& run_directory, plan_use use);

/// The plan of a new run from a config that was read or made already. Its folder is `run.output`, with a
/// number appended if that holds a run already.
/// @param path what the journal names as the config's file; may be empty
/// @throws kevo::error (input)
session_plan new_plan(const config_source& config, const std::string& path, const config_options& options);

/// The plan that a run was started with, from its journal. `task`: where the task file is now; empty: where
/// it was. Throws kevo::error (input).
session_plan recorded_plan(const journal& record, const config_options& options, const std::string& task,
                           plan_use use);

}  // namespace kevo
