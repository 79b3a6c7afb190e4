#pragma once
// Conversations with a language model: what is asked, what comes back, and how it can fail.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kevo {

/// The model wants a tool called. `arguments` is the model's text: JSON if it is well behaved.
struct tool_call {
  std::string id;
  std::string name;
  std::string arguments;
  friend bool operator==(const tool_call&, const tool_call&) = default;
};

/// One message of a conversation. Roles: system, user, assistant, tool.
struct chat_message {
  std::string role;
  std::string content;
  std::vector<tool_call> tool_calls = {};  ///< of an assistant
  std::string tool_call_id = {};           ///< of a tool: which call this answers
  friend bool operator==(const chat_message&, const chat_message&) = default;
};

/// A tool that the model may call. `parameters` is a JSON Schema, as text.
struct tool_definition {
  std::string name;
  std::string description;
  std::string parameters;
};

/// How replies are drawn; what is absent is left to the server.
struct sampling_settings {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::int64_t max_tokens = 8192;  ///< of a reply, reasoning included
};

struct chat_request {
  std::vector<chat_message> messages;
  std::vector<tool_definition> tools;
  sampling_settings sampling;
};

/// How a call ended. Everything but `ok` is a failure; `truncated` and `refused` may still hold text.
enum class reply_status : std::uint8_t {
  ok,
  truncated,     ///< the model's token limit cut it
  empty,         ///< neither text nor a tool call
  refused,       ///< the model or its filter declined
  malformed,     ///< not what the protocol says: bad JSON, wrong content type, half a body
  rate_limited,  ///< 429 to the last try
  rejected,      ///< another 4xx: a prompt that is too long, an unknown model
  unauthorized,  ///< 401: the server does not accept the key
  server_error,  ///< 5xx to the last try
  timed_out,     ///< connecting, the first token or the whole took too long
  disconnected,  ///< could not connect, or the connection broke
  over_budget,   ///< the money cap leaves no room for it: nothing was sent
  unrecorded,    ///< a replay met a call that its cassette does not hold
  cancelled,
};
inline constexpr std::array<std::string_view, 14> reply_status_names = {
    "ok",           "truncated",    "empty",     "refused",      "malformed",   "rate_limited", "rejected",
    "unauthorized", "server_error", "timed_out", "disconnected", "over_budget", "unrecorded",   "cancelled"};
inline constexpr std::string_view to_string(reply_status s) {
  return reply_status_names[static_cast<std::size_t>(s)];
}
inline constexpr std::optional<reply_status> parse_reply_status(std::string_view name) {
  for (std::size_t i = 0; i < reply_status_names.size(); ++i) {
    if (reply_status_names[i] == name) return static_cast<reply_status>(i);
  }
  return std::nullopt;
}

/// What came back of one call, retries included.
struct chat_reply {
  reply_status status = reply_status::ok;
  std::string content;                ///< the answer alone
  std::string reasoning;              ///< what the model thought aloud, if it was told apart
  std::vector<tool_call> tool_calls;  ///< that the model asks for
  std::string detail;                 ///< of a failure, for people; holds no key
  std::string model;                  ///< as the server names it
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  std::int64_t tokens_estimated = 0;  ///< of both: what no server told, by estimate
  bool counted = false;               ///< the server told the tokens
  std::string log_probabilities;      ///< JSON, if the server gives them
  std::string token_ids;              ///< JSON, if the server gives them
  double wall_s = 0;                  ///< [s] with retries and waiting
  int tries = 0;
  /// Of `unauthorized`: no other model that may be asked instead is left. A part of the reply, so that a
  /// replay decides as the run did.
  bool last_model = false;

  bool ok() const { return status == reply_status::ok; }
};

/// A high estimate of the tokens of a text: source code takes more than prose does.
inline std::int64_t estimated_tokens(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes / 3 + 1);
}
/// The same for all that a request sends.
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
