#pragma once
// The configurations (config.json) of models of Hugging Face that lie in a folder.

#include <string>
#include <string_view>

#include <boost/json.hpp>

namespace kevo::importing {

/// Hugging Face's own cache: the environment variable HF_HUB_CACHE, else HF_HOME with `/hub`, else
/// ~/.cache/huggingface/hub. Empty if no variable names a home.
std::string usual_model_folder();

/// The contents of config.json by the name of the model, of those models whose name is in `text`. A model
/// "ORG/NAME" lies in `folder` as ORG/NAME/config.json or, as in Hugging Face's cache, as
/// models--ORG--NAME/snapshots/REVISION/config.json, where refs/main says which revision is meant. A folder
/// that does not exist has no models. Reads only files of models that are named.
/// @throws kevo::error (input) that names a file which is no JSON object
boost::json::object model_configs(const std::string& folder, std::string_view text);

}  // namespace kevo::importing
