#include "src/llm/openai_fields.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <boost/json.hpp>

#include "src/base/text/utf8.hpp"

namespace kevo::openai {

namespace json = boost::json;

namespace {

/// Some servers leave the thinking in the text. Where the template of the model's prompt ends with the
/// opening mark, the text has the closing mark alone.
void split_thinking(chat_reply& reply) {
  constexpr std::string_view opening = "<think>";
  const auto begin = reply.content.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return;
  const bool opened = std::string_view(reply.content).substr(begin).starts_with(opening);
  const auto end = reply.content.find("</think>", begin);
  if (!opened && (end == std::string::npos || !reply.reasoning.empty() || reply.content.find(opening) < end))
    return;
  const auto from = opened ? begin + opening.size() : begin;
  reply.reasoning += reply.content.substr(from, end == std::string::npos ? end : end - from);
  reply.content = end == std::string::npos ? std::string() : reply.content.substr(end + 8);
}

}  // namespace

std::string text_of(const json::object& from, std::string_view key) {
  const auto* value = from.if_contains(key);
  return value != nullptr && value->is_string() ? as_utf8(value->get_string()) : std::string();
}
const json::object* object_of(const json::object& from, std::string_view key) {
  const auto* value = from.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}
const json::array* list_of(const json::object& from, std::string_view key) {
  const auto* value = from.if_contains(key);
  return value != nullptr ? value->if_array() : nullptr;
}
std::int64_t count_of(const json::object& from, std::string_view key) {
  const auto* value = from.if_contains(key);
  boost::system::error_code ec;
  const auto count = value == nullptr ? 0 : value->to_number<std::int64_t>(ec);
  return ec || count < 0 ? 0 : count;
}

namespace {

/// Of a part of a message, or of a list of parts.
std::string text_in(const json::value& from) {
  if (from.is_string()) return as_utf8(from.get_string());
  std::string text;
  if (const auto* list = from.if_array()) {
    for (const auto& part : *list) text += text_in(part);
  } else if (const auto* part = from.if_object()) {
    for (const char* key : {"text", "thinking", "reasoning"}) {
      if (const auto* value = part->if_contains(key)) return text_in(*value);
    }
  }
  return text;
}

reply_status status_of_code(std::int64_t code, reply_status otherwise) {
  if (code == 401) return reply_status::unauthorized;
  if (code == 429) return reply_status::rate_limited;
  if (code == 408 || code == 409 || code / 100 == 5) return reply_status::server_error;
  return code / 100 == 4 ? reply_status::rejected : otherwise;
}

}  // namespace

void take_content(const json::object& from, chat_reply& reply) {
  const auto* content = from.if_contains("content");
  if (content == nullptr) return;
  const auto* parts = content->if_array();
  if (parts == nullptr) {
    reply.content += text_of(from, "content");
    return;
  }
  for (const auto& part : *parts) {
    const auto* one = part.if_object();
    const std::string type = one != nullptr ? text_of(*one, "type") : std::string();
    const bool thought = type.find("think") != std::string::npos || type.find("reason") != std::string::npos;
    (thought ? reply.reasoning : reply.content) += text_in(part);
  }
}

std::string arguments_of(const json::object& function) {
  const auto* given = function.if_contains("arguments");
  if (given != nullptr && given->is_object()) return json::serialize(*given);
  return text_of(function, "arguments");
}

std::optional<told_error> error_in(const json::object& from, reply_status otherwise) {
  const auto* failed = from.if_contains("error");
  if (failed == nullptr || failed->is_null()) return std::nullopt;
  if (failed->is_string()) return told_error{otherwise, text_of(from, "error").substr(0, 300)};
  const auto* one = failed->if_object();
  if (one == nullptr) return std::nullopt;
  told_error told{otherwise, text_of(*one, "message").substr(0, 300)};
  for (const char* key : {"code", "status", "status_code"}) {
    std::int64_t code = count_of(*one, key);
    const std::string text = text_of(*one, key);
    if (text.size() == 3) std::from_chars(text.data(), text.data() + text.size(), code);
    told.status = status_of_code(code, told.status);
  }
  const std::string type = text_of(*one, "type") + " " + text_of(*one, "code");
  const auto says = [&type](std::string_view word) { return type.find(word) != std::string::npos; };
  if (told.status != otherwise) return told;
  if (says("rate_limit") || says("insufficient_quota")) {
    told.status = reply_status::rate_limited;
  } else if (says("authentication") || says("invalid_api_key")) {
    told.status = reply_status::unauthorized;
  } else if (says("invalid_request") || says("not_found") || says("permission")) {
    told.status = reply_status::rejected;
  }
  return told;
}

json::object parsed_object(std::string_view text, std::string& why) {
  boost::system::error_code ec;
  json::parse_options options;
  options.max_depth = 64;
  options.allow_invalid_utf8 = true;  // mended where texts are taken out
  json::value value = json::parse(text, ec, {}, options);
  if (ec) {
    why = "not JSON: " + ec.message();
    return {};
  }
  if (!value.is_object()) {
    why = "not a JSON object";
    return {};
  }
  return std::move(value.get_object());
}

namespace {
std::string sendable_arguments(const std::string& given) {
  std::string text = as_utf8(given);
  if (text.empty()) return text;
  std::string why;
  parsed_object(text, why);
  return why.empty() ? text : json::serialize(json::object{{"unreadable", text}});
}
}  // namespace

json::array messages_of(const std::vector<chat_message>& messages) {
  json::array list;
  for (const auto& m : messages) {
    // What a compiler printed is not always text.
    json::object one{{"role", m.role}, {"content", as_utf8(m.content)}};
    if (!m.tool_calls.empty()) {
      json::array calls;
      for (const auto& call : m.tool_calls) {
        calls.push_back(
            {{"id", as_utf8(call.id)},
             {"type", "function"},
             {"function",
              {{"name", as_utf8(call.name)}, {"arguments", sendable_arguments(call.arguments)}}}});
      }
      one["tool_calls"] = std::move(calls);
    }
    if (!m.tool_call_id.empty()) one["tool_call_id"] = m.tool_call_id;
    list.push_back(std::move(one));
  }
  return list;
}

void put_sampling(json::object& to, const sampling_settings& s, const std::string& max_tokens_key) {
  if (s.temperature) to["temperature"] = *s.temperature;
  if (s.top_p) to["top_p"] = *s.top_p;
  to[max_tokens_key] = s.max_tokens;
}

void take_usage(const json::object& from, chat_reply& reply) {
  if (const auto* usage = object_of(from, "usage")) {
    reply.tokens_in = count_of(*usage, "prompt_tokens");
    const auto* parts = object_of(*usage, "prompt_tokens_details");
    const std::int64_t cached =
        parts != nullptr ? count_of(*parts, "cached_tokens") : count_of(*usage, "prompt_cache_hit_tokens");
    reply.tokens_cached = std::min(cached, reply.tokens_in);
    reply.tokens_out = count_of(*usage, "completion_tokens");
    reply.counted = true;
  } else if (const auto* timings = object_of(from, "timings");
             timings != nullptr && timings->contains("prompt_n") && timings->contains("predicted_n")) {
    // llama.cpp, if asked for timings_per_token: an event of a stream says how many tokens there were so far.
    reply.tokens_cached = count_of(*timings, "cache_n");
    reply.tokens_in = reply.tokens_cached + count_of(*timings, "prompt_n");
    reply.tokens_out = count_of(*timings, "predicted_n");
    reply.counted = true;
  }
  if (auto name = text_of(from, "model"); !name.empty()) reply.model = std::move(name);
}

void judge(chat_reply& reply, const std::string& finish_reason, const std::string& refusal) {
  split_thinking(reply);
  const bool nothing =
      reply.content.find_first_not_of(" \t\r\n") == std::string::npos && reply.tool_calls.empty();
  if (!refusal.empty() || finish_reason == "content_filter") {
    reply.status = reply_status::refused;
    reply.detail = refusal.empty() ? "a content filter stopped it" : refusal.substr(0, 300);
  } else if (finish_reason == "length") {
    reply.status = reply_status::truncated;
    reply.detail = "the token limit cut the reply";
  } else if (nothing) {
    reply.status = reply_status::empty;
    reply.detail = "the reply holds neither text nor a tool call";
  }
}

chat_reply malformed(std::string why) {
  chat_reply reply;
  reply.status = reply_status::malformed;
  reply.detail = std::move(why);
  return reply;
}

}  // namespace kevo::openai
