#include "operators/agent/long_conversation.hpp"

#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "operators/llm/prompt.hpp"

namespace kevo {
namespace {

constexpr std::size_t most_text_bytes = 200;      ///< of an argument of an old call
constexpr std::size_t most_thought_bytes = 1000;  ///< of what the model said beside old calls

std::int64_t tokens_of(const std::vector<chat_message>& messages) {
  return estimated_tokens(chat_request{.messages = messages, .tools = {}, .sampling = {}});
}

}  // namespace

std::optional<std::string> answer_in(const std::string& messages, const std::string& call_id) {
  boost::system::error_code ec;
  const boost::json::value parsed = boost::json::parse(messages, ec, {}, {.max_depth = 64});
  if (ec || call_id.empty() || !parsed.is_array()) return std::nullopt;
  const boost::json::array& all = parsed.get_array();
  for (std::size_t i = all.size(); i-- > 0;) {  // some servers give ids again
    const auto* one = all[i].if_object();
    if (one == nullptr) continue;
    const auto* id = one->if_contains("tool_call_id");
    const auto* content = one->if_contains("content");
    if (id != nullptr && id->is_string() && id->get_string() == call_id && content != nullptr &&
        content->is_string())
      return std::string(content->get_string());
  }
  return std::nullopt;
}

std::string without_long_texts(const std::string& arguments) {
  boost::system::error_code ec;
  boost::json::value parsed = boost::json::parse(arguments, ec, {}, {.max_depth = 16});
  if (ec || !parsed.is_object()) return arguments;
  bool changed = false;
  for (auto& member : parsed.get_object()) {
    if (!member.value().is_string() || member.value().get_string().size() <= most_text_bytes) continue;
    member.value() = fmt::format("[{} bytes, left out here; read_file shows what the file holds now]",
                                 member.value().get_string().size());
    changed = true;
  }
  return changed ? boost::json::serialize(parsed) : arguments;
}

std::size_t begin_of_last_steps(const agent_steps& steps, std::size_t count) {
  for (std::size_t i = steps.messages.size(); i-- > 0;) {
    if (steps.messages[i].role == "assistant" && --count == 0) return i;
  }
  return 0;
}

void shorten_before(agent_steps& steps, std::size_t end) {
  for (std::size_t i = 0; i < end && i < steps.messages.size(); ++i) {
    chat_message& one = steps.messages[i];
    if (one.role == "tool" && steps.briefs[i].size() < one.content.size()) one.content = steps.briefs[i];
    if (one.role != "assistant") continue;
    one.content = shortened(one.content, most_thought_bytes);
    for (auto& call : one.tool_calls) call.arguments = without_long_texts(call.arguments);
  }
}

void leave_out_oldest(agent_steps& steps, std::int64_t tokens) {
  while (tokens_of(steps.messages) > tokens) {
    std::size_t next = 1;
    while (next < steps.messages.size() && steps.messages[next].role != "assistant") ++next;
    if (next >= steps.messages.size()) return;
    steps.messages.erase(steps.messages.begin(), steps.messages.begin() + static_cast<std::ptrdiff_t>(next));
    steps.briefs.erase(steps.briefs.begin(), steps.briefs.begin() + static_cast<std::ptrdiff_t>(next));
  }
}

}  // namespace kevo
