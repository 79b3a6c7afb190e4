#pragma once
// The archive of a recorded run, as it was when the run began: empty.

#include <kevo/archive.hpp>

#include "src/journal/journal.hpp"

namespace kevo {

/// Whether the shared objects that a run's config names are loaded, which runs their code. A journal that
/// somebody else made can name any file, so that who only looks at a run leaves them.
enum class run_plugins { leave, load };

/// What the programs' option --plugins says.
inline constexpr const char* plugins_help =
    "Load the plug-ins that the config of the run names; this executes their code, so use it only if you "
    "trust the run";

/// Made from the config that the journal holds. An empty any_archive if it cannot be made here (a plug-in is
/// gone or not loaded, another version of kevo): whoever only looks at a run goes without.
any_archive empty_archive_of(const journal& run, run_plugins plugins = run_plugins::leave);

}  // namespace kevo
