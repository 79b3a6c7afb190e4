#pragma once
// A published system in the laboratory: its config, with operators that ask a model replaced by simulated
// ones.

#include <string>
#include <vector>

#include <kevo/settings_node.hpp>

namespace kevo {

/// Reads the evolution config `path`, applies `overrides` ("filter.epsilon=0.3") and keeps what a policy of a
/// lab consists of: archive, select, filter, vary and the number of proposals ahead. Operators that ask a
/// model become `simulated_model`; with `recorded`, the system has the operator `recorded_proposal` alone,
/// because the proposals of recorded runs are all that there is. Throws kevo::error (input) for an operator
/// that has no simulated counterpart.
settings_node policy_of_system(const std::string& path, const std::vector<std::string>& overrides,
                               bool recorded);

}  // namespace kevo
