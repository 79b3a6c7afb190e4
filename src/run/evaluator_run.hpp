#pragma once
// `kevo run --openevolve FOLDER` and `--shinka FOLDER`: the config of a run on an example folder of another
// system.

#include <string>
#include <vector>

#include <kevo/fitness/evaluator.hpp>

#include "src/run/run_plan.hpp"

namespace kevo {

/// A folder of another system, as `kevo run` is given it.
struct evaluator_choice {
  evaluator_system system = evaluator_system::openevolve;
  std::string folder;
};

/// The same as the words of a command line, a JSON array of an option and an absolute path.
std::string words_of(const evaluator_choice& chosen);

/// The config of a run on such a folder, overrides applied. Archive and selection are those with which kevo
/// writes that system (configs/systems), with the numbers that the folder's own settings give. Candidates are
/// made by the language models of `llm.models` if the overrides name any, else by the operator `numbers`.
/// @param config a config file whose task and fitness are replaced by the folder's; empty: none
/// @throws kevo::error (input, usage)
config_source evaluator_run(const evaluator_choice& chosen, const std::string& config,
                            const std::vector<std::string>& overrides);

}  // namespace kevo
