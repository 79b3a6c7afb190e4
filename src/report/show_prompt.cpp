// What was sent to language models, readable: messages that an earlier call of the conversation held are not
// repeated.

#include <map>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "src/report/show.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

std::string text_of(const json::value& value, const char* key) {
  const auto* object = value.if_object();
  const auto* found = object != nullptr ? object->if_contains(key) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::string tool_calls(const json::value& message) {
  const auto* object = message.if_object();
  const auto* calls = object != nullptr ? object->if_contains("tool_calls") : nullptr;
  return calls == nullptr ? std::string() : json::serialize(*calls) + "\n";
}

std::string closed(std::string text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace

std::string conversation_text(const std::vector<model_call>& calls) {
  std::string text;
  std::map<std::string, std::size_t> messages_shown;  // by conversation: a judge's lies within its operator's
  for (const auto& call : calls) {
    std::size_t& shown = messages_shown[call.operator_name];
    boost::system::error_code ec;
    const json::value messages = json::parse(call.messages, ec);
    if (call.turn == 0) shown = 0;
    text += fmt::format("=== call {} of {} to {}, {} tokens in, {} out\n", call.turn + 1, call.operator_name,
                        call.model, call.tokens_in, call.tokens_out);
    if (const auto* list = messages.if_array()) {
      for (std::size_t i = shown; i < list->size(); ++i) {
        const json::value& one = (*list)[i];
        if (one.is_string()) {  // embeddings
          text += fmt::format("--- text {}\n", std::string_view(one.get_string()));
          continue;
        }
        text += fmt::format("--- {}\n{}{}", text_of(one, "role"), closed(text_of(one, "content")),
                            tool_calls(one));
      }
      shown = list->size() + 1;  // the reply is among the next call's messages
    }
    const json::value reply = json::parse(call.response, ec);
    text += fmt::format("--- reply ({})\n", text_of(reply, "status"));
    if (const auto reasoning = text_of(reply, "reasoning"); !reasoning.empty())
      text += "[reasoning]\n" + closed(reasoning) + "[answer]\n";
    text += closed(text_of(reply, "content")) + tool_calls(reply) + closed(text_of(reply, "detail"));
  }
  return text;
}

}  // namespace kevo
