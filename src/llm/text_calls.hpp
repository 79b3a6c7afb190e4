#pragma once
// Tool calls that a model wrote into its text. A server that has no parser for a model's calls, or was
// started without it, passes them on like this.

#include <string>
#include <vector>

#include <kevo/llm/chat.hpp>

namespace kevo {

/// How the ids of calls begin that a reply to this request gives none: other ones with each reply.
std::string call_ids(const chat_request& request);

/// Moves calls of tools from the text of a reply to `tool_calls`. These forms are known: JSON between
/// <tool_call> and </tool_call> (Hermes, Qwen), <function_call>, <|tool_call|>, after <|python_tag|> or
/// [TOOL_CALLS]; <function=NAME> with JSON or with <parameter=NAME> (Llama, Qwen-Coder), <invoke name="NAME">
/// with <parameter name="NAME">, <arg_key> with <arg_value> (GLM); and a text that is nothing but JSON with
/// the name of one of `tools`. What stands between marks and cannot be read becomes a call whose arguments
/// are the text itself, so that whoever answers calls tells the model that they are no JSON object. `ids`
/// begins the ids of the calls. A reply that has calls already, or none in its text, stays as it is.
void take_calls_from_text(chat_reply& reply, const std::vector<tool_definition>& tools,
                          const std::string& ids);

}  // namespace kevo
