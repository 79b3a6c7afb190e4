#pragma once
// How a config's entry `{type: tune, ...}` becomes the operator, and what other runs have found out for it.

#include <cstddef>
#include <string>
#include <vector>

#include <kevo/error.hpp>
#include <kevo/operators/tune.hpp>
#include <kevo/settings.hpp>

namespace kevo {

/// The operator without experience.
tune tune_from(settings& from);

/// Makes values of different runs comparable: the best of those from `first` on becomes 0.
void relate_to_best(std::vector<tune_experience>& all, std::size_t first);

/// What the runs in `folders` found out about the tunables of their candidates. `named` is where the config
/// names them. Throws kevo::error (input) if there is no run in a folder.
std::vector<tune_experience> experience_of_runs(const std::vector<std::string>& folders,
                                                const error_place& named);

}  // namespace kevo
