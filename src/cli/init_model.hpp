#pragma once
// The language model that `kevo init --model` puts into a config.

#include <string>

namespace kevo::cli {

/// An entry of `llm.models` on one line, and what the user should know about it (empty: nothing).
struct model_entry {
  std::string line;
  std::string note;
};

/// The entry for the address of a server, whose first model is asked for, or for the name of a model, from
/// which the provider is concluded. Throws kevo::error (usage, input) if it can be neither.
model_entry model_entry_of(const std::string& url_or_name);

/// A config of a template with the model, and with operators that ask it.
std::string with_model(std::string config, const model_entry& model);

}  // namespace kevo::cli
