#pragma once
// The archive of a recorded run, as it was when the run began: empty.

#include <kevo/archive.hpp>

#include "src/journal/journal.hpp"

namespace kevo {

/// Made from the config that the journal holds, with the plug-ins that it names. An empty any_archive if it
/// cannot be made here (a plug-in is gone, another version of kevo): whoever only looks at a run goes
/// without.
any_archive empty_archive_of(const journal& run);

}  // namespace kevo
