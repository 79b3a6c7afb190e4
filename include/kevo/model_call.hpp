#pragma once
// One call of a language model, as it is stored in the journal, with the data needed for training.

#include <cstdint>
#include <string>

namespace kevo {

/// A value type. Fields marked JSON hold JSON documents; a field is empty if the server did not send it.
struct model_call {
  std::string operator_name;
  std::string model;              ///< name in the config
  std::string group;              ///< label of the group: calls with the same prompt have the same group
  std::int64_t turn = 0;          ///< number of the turn in its conversation, from 0
  std::string messages;           ///< JSON, as sent
  std::string response;           ///< JSON, as received, or a description of the failure
  std::string prompt_token_ids;   ///< JSON
  std::string token_ids;          ///< JSON
  std::string log_probabilities;  ///< JSON
  std::string sampling;           ///< JSON: temperature, top_p, ...
  std::string policy_version;     ///< label of the model weights that answered
  std::string reward_terms;       ///< JSON
  std::string request_key;        ///< key of the answer in a cassette
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  double money = 0;   ///< cost in the currency of the configured prices
  double wall_s = 0;  ///< [s]
};

}  // namespace kevo
