#pragma once
// Whether the language models of a config answer, before a run begins.

#include <vector>

#include "src/llm/check_models.hpp"
#include "src/run/run_plan.hpp"

namespace kevo {

/// Whether a run asks these models at all: replies come neither from a cassette nor from files.
bool is_asked(const models_settings& models);

/// Asks each model of a config once (see check_models). Nothing is evaluated and no cassette is opened. Empty
/// if the config names no model, or asks none.
/// @throws kevo::error (input, environment) for a key that is missing or another fault of the config
std::vector<model_check> check_models_of(const config_source& config);

}  // namespace kevo
