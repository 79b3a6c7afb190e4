#pragma once
// One call of a language model, as a journal keeps it and a trainer wants it.

#include <cstdint>
#include <string>

namespace kevo {

/// A value. Texts named JSON are JSON documents; empty ones were not given by the server.
struct model_call {
  std::string operator_name;
  std::string model;              ///< name in the config
  std::string group;              ///< calls that share a prompt are a group
  std::int64_t turn = 0;          ///< of a conversation, from 0
  std::string messages;           ///< JSON, as sent
  std::string response;           ///< JSON, as received, or what went wrong
  std::string prompt_token_ids;   ///< JSON
  std::string token_ids;          ///< JSON
  std::string log_probabilities;  ///< JSON
  std::string sampling;           ///< JSON: temperature, top_p, ...
  std::string policy_version;     ///< of the weights that answered
  std::string reward_terms;       ///< JSON
  std::string request_key;        ///< of the answer in a cassette
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  double money = 0;   ///< in the currency of the configured prices
  double wall_s = 0;  ///< [s]
};

}  // namespace kevo
