#pragma once
// Recorded runs from their journals.

#include <string>
#include <vector>

#include <kevo/lab/recorded_run.hpp>

namespace kevo {

/// Reads the folders of runs of one task into one graph. Programs that are equal in several runs are one
/// program. The root is the first seed of the first run. Programs without a parent (further seeds) count as
/// proposed at the root. `named`: where the folders are named, for errors.
/// @throws kevo::error (input) if a folder contains no run, a run has no valid candidate, the runs are of
/// different tasks, or for the reasons that `recorded_run_graph` gives
recorded_run_graph load_recorded_runs(const std::vector<std::string>& folders, const error_place& named);

}  // namespace kevo
