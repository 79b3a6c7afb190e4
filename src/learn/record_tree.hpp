#pragma once
// Reads trees from the journals of runs.

#include <string>
#include <vector>

#include <kevo/error.hpp>

#include "src/learn/macro_tree.hpp"

namespace kevo {

/// The programs that `rewrite` proposed in the runs, and what became of them. Runs of one task are put
/// together. Of a variation with several actions, the first one counts. Runs that did not note which actions
/// were possible need the parser of `rewrite`, which tells it again. Throws kevo::error (input) if a folder
/// has no run, or no run has a variation by `rewrite`.
macro_tree tree_of_runs(const std::vector<std::string>& folders, const error_place& named = {});

}  // namespace kevo
