#pragma once
// Requests to a language model, its replies, and the ways in which a call can fail.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kevo {

/// A call of a tool that the model requests. `arguments` is text of the model, which should be a JSON object.
struct tool_call {
  std::string id;         ///< id that the answer to this call repeats
  std::string name;       ///< name of the tool
  std::string arguments;  ///< as the model wrote them
  friend bool operator==(const tool_call&, const tool_call&) = default;
};

/// One message of a conversation.
struct chat_message {
  std::string role;                        ///< "system", "user", "assistant" or "tool"
  std::string content;                     ///< text of the message
  std::vector<tool_call> tool_calls = {};  ///< of an assistant: the tool calls that it requests
  std::string tool_call_id = {};           ///< of a tool: id of the call that this message answers
  friend bool operator==(const chat_message&, const chat_message&) = default;
};

/// A tool that the model may call.
struct tool_definition {
  std::string name;
  std::string description;  ///< for the model
  std::string parameters;   ///< JSON Schema of the arguments, as text
};

/// Sampling settings of a request. Those that are absent are left to the server.
struct sampling_settings {
  std::optional<double> temperature;
  std::optional<double> top_p;  ///< probability mass from which tokens are drawn
  /// Maximum size of a reply, reasoning included. Models that reason need 5,000 to 30,000 tokens. Operators
  /// ask again with less if a server says that its limit is lower.
  std::int64_t max_tokens = 32768;
};

/// A request for one or several replies to a conversation.
struct chat_request {
  std::vector<chat_message> messages;  ///< oldest first
  std::vector<tool_definition> tools;  ///< may be empty
  sampling_settings sampling;
  std::int64_t replies = 1;  ///< number of replies that are asked for at once (field `n` of the protocol)
};

/// The result of a call. All but `ok` are failures; a reply that is `truncated` or `refused` may still
/// contain text.
enum class reply_status : std::uint8_t {
  ok,            ///< the reply contains text or a tool call
  truncated,     ///< the reply was cut at the token limit
  empty,         ///< the reply contains neither text nor a tool call
  refused,       ///< the model or its content filter refused to answer
  malformed,     ///< the response violates the protocol: invalid JSON, wrong content type, incomplete body
  rate_limited,  ///< the last try got status 429
  rejected,      ///< another status 4xx, for instance because the prompt is too long or the model unknown
  unauthorized,  ///< status 401: the server does not accept the key
  server_error,  ///< the last try got a status 5xx
  timed_out,     ///< the connection, the first token or the whole reply took too long
  disconnected,  ///< the connection could not be made, or it broke
  over_budget,   ///< the call might exceed the limit of costs, so it was not sent
  unrecorded,    ///< a replay needs a call that its cassette does not contain
  cancelled,     ///< the run ended, or the operator was asked to stop
};
/// The names of the results, in the order of `reply_status`.
inline constexpr std::array<std::string_view, 14> reply_status_names = {
    "ok",           "truncated",    "empty",     "refused",      "malformed",   "rate_limited", "rejected",
    "unauthorized", "server_error", "timed_out", "disconnected", "over_budget", "unrecorded",   "cancelled"};
/// The name of a result, as journals and cassettes store it.
inline constexpr std::string_view to_string(reply_status s) {
  return reply_status_names[static_cast<std::size_t>(s)];
}
/// The inverse of `to_string`; nothing for an unknown name.
inline constexpr std::optional<reply_status> parse_reply_status(std::string_view name) {
  for (std::size_t i = 0; i < reply_status_names.size(); ++i) {
    if (reply_status_names[i] == name) return static_cast<reply_status>(i);
  }
  return std::nullopt;
}

/// The reply to one call, with all retries.
struct chat_reply {
  reply_status status = reply_status::ok;  ///< `ok`, or the kind of failure of the last try
  std::string content;                     ///< text of the reply, without reasoning
  std::string reasoning;                   ///< reasoning of the model, if the server sends it separately
  std::vector<tool_call> tool_calls;       ///< tool calls that the model requests
  std::string detail;                      ///< description of a failure, for people; contains no key
  std::string model;                       ///< name of the model as the server gives it
  std::int64_t tokens_in = 0;              ///< tokens of the prompt
  std::int64_t tokens_cached = 0;          ///< those of the prompt that the server had in its cache
  std::int64_t tokens_out = 0;             ///< tokens of the reply
  /// Those of both counts that the server did not report and that are estimated.
  std::int64_t tokens_estimated = 0;
  bool counted = false;           ///< whether the server reported the tokens
  std::string log_probabilities;  ///< JSON, if the server sends them
  std::string token_ids;          ///< JSON, if the server sends them
  double wall_s = 0;              ///< [s] wall time, with retries and waits
  int tries = 0;                  ///< number of tries
  /// With status `unauthorized`: whether there is no other model that could be asked instead. This is
  /// recorded with the reply, so that a replay makes the same decisions as the run.
  bool last_model = false;
  /// Whether the server could not be reached: no connection was made, or a gateway reported this (status 502,
  /// 503 or 504). Not recorded.
  bool unreachable = false;

  /// Further replies of the same request, if it asked for several. Their tokens are counted in this one. Not
  /// recorded: each becomes a record of its own.
  std::vector<chat_reply> further = {};

  /// Whether the call did not fail.
  bool ok() const { return status == reply_status::ok; }
};

/// An estimate of the number of tokens of a text with this many bytes. It is rather too high than too low,
/// because source code needs more tokens than prose.
inline std::int64_t estimated_tokens(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes / 3 + 1);
}
/// An estimate of the number of tokens of everything that a request sends.
inline std::int64_t estimated_tokens(const chat_request& request) {
  std::int64_t tokens = 0;
  for (const auto& m : request.messages) {
    std::size_t bytes = m.content.size() + 16;
    for (const auto& call : m.tool_calls) bytes += call.name.size() + call.arguments.size();
    tokens += estimated_tokens(bytes);
  }
  for (const auto& tool : request.tools)
    tokens += estimated_tokens(tool.name.size() + tool.description.size() + tool.parameters.size());
  return tokens;
}

}  // namespace kevo
