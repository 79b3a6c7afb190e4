#pragma once
// What a server that refuses a request says of its limits.

#include <cstdint>
#include <string_view>

namespace kevo {

/// Limits in tokens; 0: nothing is said of it.
struct server_limits {
  std::int64_t context = 0;  ///< of prompt and reply together
  std::int64_t reply = 0;    ///< of one reply
  /// Whether the request was refused for its length, whether or not a limit is named.
  bool too_long = false;
};

/// The limits in the message of a refusal, in the words of vLLM, SGLang, llama.cpp, OpenAI, Anthropic,
/// Google, DeepSeek and Groq.
server_limits limits_in(std::string_view refusal);

}  // namespace kevo
