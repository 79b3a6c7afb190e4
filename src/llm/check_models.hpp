#pragma once
// Asks each model of a config once, so that a wrong address, key or name is known before a run begins.

#include <stop_token>
#include <string>
#include <vector>

#include <kevo/llm/client.hpp>

namespace kevo {

/// The name of the tool that a check asks a model to call.
inline constexpr const char* check_tool = "kevo_ready";

/// What came of asking one model.
struct model_check {
  std::string model;         ///< its name in the config
  bool works = false;        ///< whether it replied
  bool calls_tools = false;  ///< whether it called the tool that it was asked to call
  bool refused = false;      ///< whether the server refused the request or the key, so that it would again
  std::string said;          ///< a sentence for people; contains no key
  double wall_s = 0;         ///< [s]
  double money = 0;          ///< what it cost
};

/// Asks all at the same time, each once and for at most 30 s, with a tool; a server that refuses tools is
/// asked again without, and a model of weight 0 that refuses to chat is asked for an embedding. In the order
/// of the config. No cassette is used.
std::vector<model_check> check_models(const models_settings& models, const std::stop_token& stop);

}  // namespace kevo
