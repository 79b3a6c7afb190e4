#pragma once
// One call of a language model, as the journal stores it, including the data that training needs.

#include <cstdint>
#include <string>

namespace kevo {

/// A call of a language model. Members marked JSON contain JSON documents; they are empty if the server did
/// not send this data.
struct model_call {
  std::string operator_name;  ///< name of the operator that asked
  std::string model;          ///< name of the model in the config
  std::string group;          ///< label of the group; all calls of one turn of an operator form a group
  std::int64_t turn = 0;      ///< number of the turn of the conversation, from 0
  /// Number of the reply among those to the same prompt, from 0. In the journal it is a part of `sampling`.
  std::int64_t sample = 0;
  std::string messages;  ///< JSON, as sent
  std::string response;  ///< JSON, as received, or a description of the failure
  std::string
      prompt_token_ids;   ///< JSON: ids of the tokens of the prompt; kevo's own operators leave it empty
  std::string token_ids;  ///< JSON: ids of the tokens of the reply
  std::string log_probabilities;  ///< JSON: log-probabilities of the tokens of the reply
  std::string sampling;           ///< JSON: temperature, top_p, ...
  std::string policy_version;     ///< label of the model weights: from the config, else from the reply
  std::string reward_terms;       ///< JSON: parts of the reward; kevo's own operators leave it empty
  std::string request_key;        ///< "operator/model/ordinal": key of the answer in a cassette
  std::int64_t tokens_in = 0;     ///< tokens of the prompt
  std::int64_t tokens_out = 0;    ///< tokens of the reply
  double money = 0;               ///< cost in the currency of the configured prices
  double wall_s = 0;              ///< [s] wall time, with retries and waits
};

}  // namespace kevo
