#include "src/llm/openai_stream.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <boost/json.hpp>

#include "src/llm/openai_fields.hpp"

namespace kevo {

namespace json = boost::json;

namespace {
/// More choices than this in one answer are not read.
constexpr std::size_t most_replies = 128;
}  // namespace

void chat_stream::feed(std::string_view part) {
  const std::size_t seen = rest_.size();  // without a line break
  rest_ += part;
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n', seen); end != std::string::npos; end = rest_.find('\n', begin)) {
    line(std::string_view(rest_).substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
}

void chat_stream::line(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (!text.starts_with("data:") || done_) return;  // comments, event names and blank lines say nothing
  text.remove_prefix(5);
  if (text.starts_with(' ')) text.remove_prefix(1);
  if (text == "[DONE]") {
    done_ = true;
  } else if (!text.empty()) {
    delta(text);
  }
}

void chat_stream::delta(std::string_view text) {
  std::string why;
  const json::object all = openai::parsed_object(text, why);
  if (!why.empty()) {
    if (broken_.empty()) broken_ = "an event is " + why;
    return;
  }
  if (const auto told = openai::error_in(all, reply_status::malformed)) {
    broken_ = "the stream says: " + told->message;
    broken_as_ = told->status;
    return;
  }
  any_ = true;
  openai::take_usage(all, usage_);
  const auto* choices = openai::list_of(all, "choices");
  for (const auto& choice : choices != nullptr ? *choices : json::array()) {
    if (const auto* one = choice.if_object()) take_choice(*one);
  }
}

void chat_stream::take_choice(const json::object& choice) {
  const auto place = static_cast<std::size_t>(openai::count_of(choice, "index"));
  if (place >= most_replies) return;
  if (replies_.size() <= place) replies_.resize(place + 1);
  written& now = replies_[place];
  if (auto reason = openai::text_of(choice, "finish_reason"); !reason.empty())
    now.finish_reason = std::move(reason);
  const auto* part = openai::object_of(choice, "delta");
  if (part == nullptr) return;
  chat_reply& reply = now.reply;
  openai::take_content(*part, reply);
  const std::string thought = openai::text_of(*part, "reasoning_content");
  reply.reasoning += thought.empty() ? openai::text_of(*part, "reasoning") : thought;
  if (auto refusal = openai::text_of(*part, "refusal"); !refusal.empty()) reply.detail += refusal;
  if (const auto* calls = openai::list_of(*part, "tool_calls")) {
    for (const auto& call : *calls) {
      const auto* one = call.if_object();
      if (one == nullptr) continue;
      // Calls without an index come whole, one after the other; a part without a name continues the latest.
      const auto* named = openai::object_of(*one, "function");
      const bool begins = named != nullptr && !openai::text_of(*named, "name").empty();
      const std::size_t next = reply.tool_calls.size() - (begins || reply.tool_calls.empty() ? 0U : 1U);
      const std::size_t index =
          one->contains("index") ? static_cast<std::size_t>(openai::count_of(*one, "index")) : next;
      if (index >= 64) continue;
      if (reply.tool_calls.size() <= index) reply.tool_calls.resize(index + 1);
      tool_call& mine = reply.tool_calls[index];
      mine.id += openai::text_of(*one, "id");
      if (const auto* function = openai::object_of(*one, "function")) {
        mine.name += openai::text_of(*function, "name");
        mine.arguments += openai::arguments_of(*function);
      }
    }
  }
}

chat_reply chat_stream::finish() {
  if (!rest_.empty()) line(std::exchange(rest_, {}));
  const bool ended = done_ || std::all_of(replies_.begin(), replies_.end(),
                                          [](const written& one) { return !one.finish_reason.empty(); });
  const bool whole = broken_.empty() && any_ && ended;
  std::vector<chat_reply> replies;
  for (written& one : replies_) {
    chat_reply& reply = replies.emplace_back(std::move(one.reply));
    reply.model = usage_.model;
    const std::string refusal = std::exchange(reply.detail, {});
    if (whole) openai::judge(reply, one.finish_reason, refusal);
  }
  chat_reply reply = std::move(replies.front());
  reply.tokens_in = usage_.tokens_in;
  reply.tokens_cached = usage_.tokens_cached;
  reply.tokens_out = usage_.tokens_out;
  reply.counted = usage_.counted;
  replies.erase(replies.begin());
  reply.further = std::move(replies);
  if (!whole) {
    reply.status = broken_as_;
    reply.detail = !broken_.empty() ? broken_ : any_ ? "the stream was cut" : "the stream holds no event";
  }
  return reply;
}

namespace {

/// The number behind a quoted name; nothing if it is not there whole.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view name) {
  const auto found = text.find(name);
  if (found == std::string_view::npos) return std::nullopt;
  text.remove_prefix(found + name.size());
  const auto begin = text.find_first_not_of(" \t\r\n:");
  if (begin == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  const bool whole = failure == std::errc() && end != text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

void take_stray_usage(std::string_view received, chat_reply& reply) {
  const auto at = received.rfind("\"usage\"");
  if (at == std::string_view::npos) return;
  const std::string_view rest = received.substr(at);
  const auto in = number_behind(rest, "\"prompt_tokens\"");
  if (!in) return;
  reply.tokens_in = *in;
  reply.tokens_out = number_behind(rest, "\"completion_tokens\"").value_or(0);
  reply.counted = true;
}

}  // namespace kevo
