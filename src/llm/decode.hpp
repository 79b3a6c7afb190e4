#pragma once
// The `llm:` part of a config. The format is documented in docs/llm.md.

#include <memory>
#include <string>

#include <kevo/registry.hpp>
#include <kevo/settings.hpp>

#include "src/llm/language_models.hpp"

namespace kevo {

/// Decodes; `directory` is what relative paths are beside. Keys are read from the environment or from files,
/// and are in no setting. With `ready`, a key that is named and absent is an error, unless a cassette
/// answers; without, no file is opened. Portfolios come from `plugins`. Null if the config names no model.
/// Throws kevo::error (input, environment).
std::shared_ptr<language_models> decode_models(settings& from, const std::string& directory,
                                               const registry& plugins, bool ready);

/// One entry of `llm.models`. `needs_key`: a key that is named must be there. `from_files`: nobody is asked,
/// so that neither a key nor an address is needed.
model_settings decode_model(settings& from, const std::string& directory, bool needs_key,
                            bool from_files = false);

}  // namespace kevo
