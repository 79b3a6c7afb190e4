#include "src/llm/openai.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include <boost/json.hpp>

#include "src/base/text/utf8.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

/// More choices than this in one answer are not read.
constexpr std::size_t most_replies = 128;

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
             {"function", {{"name", as_utf8(call.name)}, {"arguments", as_utf8(call.arguments)}}}});
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

void take_usage(const json::object& from, chat_reply& reply) {
  if (const auto* usage = object_of(from, "usage")) {
    reply.tokens_in = count_of(*usage, "prompt_tokens");
    reply.tokens_out = count_of(*usage, "completion_tokens");
    reply.counted = true;
  } else if (const auto* timings = object_of(from, "timings");
             timings != nullptr && timings->contains("prompt_n") && timings->contains("predicted_n")) {
    // llama.cpp, if asked for timings_per_token: an event of a stream says how many tokens there were so far.
    reply.tokens_in = count_of(*timings, "cache_n") + count_of(*timings, "prompt_n");
    reply.tokens_out = count_of(*timings, "predicted_n");
    reply.counted = true;
  }
  if (auto name = text_of(from, "model"); !name.empty()) reply.model = std::move(name);
}

/// Some servers leave the thinking in the text.
void split_thinking(chat_reply& reply) {
  const auto begin = reply.content.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || !std::string_view(reply.content).substr(begin).starts_with("<think>"))
    return;
  const auto end = reply.content.find("</think>", begin);
  const auto from = begin + 7;
  reply.reasoning += reply.content.substr(from, end == std::string::npos ? end : end - from);
  reply.content = end == std::string::npos ? std::string() : reply.content.substr(end + 8);
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

chat_reply malformed(std::string why) {
  chat_reply reply;
  reply.status = reply_status::malformed;
  reply.detail = std::move(why);
  return reply;
}

}  // namespace

std::string messages_json(const std::vector<chat_message>& messages) {
  return json::serialize(messages_of(messages));
}

std::string sampling_json(const sampling_settings& sampling) {
  json::object object;
  put_sampling(object, sampling, "max_tokens");
  return json::serialize(object);
}

std::string sampling_json(const sampling_settings& sampling, std::int64_t sample, std::int64_t samples) {
  json::object object;
  put_sampling(object, sampling, "max_tokens");
  object["sample"] = sample;
  object["samples"] = samples;
  return json::serialize(object);
}

std::int64_t sample_of_json(std::string_view sampling) {
  std::string why;
  return sampling.empty() ? 0 : count_of(parsed_object(sampling, why), "sample");
}

std::string reply_json(const chat_reply& reply) {
  json::object one{{"status", std::string(to_string(reply.status))}};
  if (!reply.content.empty()) one["content"] = reply.content;
  if (!reply.reasoning.empty()) one["reasoning"] = reply.reasoning;
  if (!reply.tool_calls.empty()) {
    json::array calls;
    for (const auto& call : reply.tool_calls)
      calls.push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
    one["tool_calls"] = std::move(calls);
  }
  if (!reply.detail.empty()) one["detail"] = reply.detail;
  if (!reply.model.empty()) one["model"] = reply.model;
  if (reply.last_model) one["last_model"] = true;
  if (reply.tries > 1) one["tries"] = reply.tries;
  if (reply.tokens_estimated > 0) one["tokens_estimated"] = reply.tokens_estimated;
  return json::serialize(one);
}

chat_reply reply_of_json(std::string_view text) {
  std::string why;
  const json::object all = parsed_object(text, why);
  const auto status = parse_reply_status(text_of(all, "status"));
  if (!status) return malformed("the recorded reply has no status" + (why.empty() ? "" : ": it is " + why));
  chat_reply reply;
  reply.status = *status;
  reply.content = text_of(all, "content");
  reply.reasoning = text_of(all, "reasoning");
  reply.detail = text_of(all, "detail");
  reply.model = text_of(all, "model");
  reply.tries = std::max(1, static_cast<int>(count_of(all, "tries")));
  const auto* last_model = all.if_contains("last_model");
  reply.last_model = last_model != nullptr && last_model->is_bool() && last_model->get_bool();
  reply.tokens_estimated = count_of(all, "tokens_estimated");
  if (const auto* calls = list_of(all, "tool_calls")) {
    for (const auto& call : *calls) {
      if (const auto* one = call.if_object())
        reply.tool_calls.push_back({text_of(*one, "id"), text_of(*one, "name"), text_of(*one, "arguments")});
    }
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

std::string chat_body(const chat_request& request, const openai_dialect& dialect) {
  json::object body{{"model", dialect.model}, {"messages", messages_of(request.messages)}};
  put_sampling(body, request.sampling, dialect.max_tokens_key);
  if (request.replies > 1) body["n"] = request.replies;
  if (!request.tools.empty()) {
    json::array tools;
    for (const auto& tool : request.tools) {
      tools.push_back({{"type", "function"},
                       {"function",
                        {{"name", tool.name},
                         {"description", tool.description},
                         {"parameters", json::parse(tool.parameters)}}}});
    }
    body["tools"] = std::move(tools);
  }
  if (dialect.stream) {
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
  }
  if (!dialect.extra.empty()) {
    const json::value extra = json::parse(dialect.extra);
    for (const auto& [key, value] : extra.as_object()) body[key] = value;
  }
  return json::serialize(body);
}

namespace {

/// A choice of an answer as a reply, without tokens.
chat_reply reply_of(const json::object& choice, const json::object& message) {
  chat_reply reply;
  reply.content = text_of(message, "content");
  reply.reasoning = text_of(message, "reasoning_content");
  if (reply.reasoning.empty()) reply.reasoning = text_of(message, "reasoning");
  if (const auto* calls = list_of(message, "tool_calls")) {
    for (const auto& call : *calls) {
      const auto* one = call.if_object();
      const auto* function = one != nullptr ? object_of(*one, "function") : nullptr;
      if (function == nullptr) continue;
      reply.tool_calls.push_back(
          {text_of(*one, "id"), text_of(*function, "name"), text_of(*function, "arguments")});
    }
  }
  if (const auto* probabilities = choice.if_contains("logprobs");
      probabilities != nullptr && !probabilities->is_null())
    reply.log_probabilities = json::serialize(*probabilities);
  if (const auto* ids = choice.if_contains("token_ids"); ids != nullptr && ids->is_array())
    reply.token_ids = json::serialize(*ids);
  judge(reply, text_of(choice, "finish_reason"), text_of(message, "refusal"));
  return reply;
}

}  // namespace

chat_reply parse_chat(std::string_view body) {
  std::string why;
  const json::object all = parsed_object(body, why);
  if (!why.empty()) return malformed("the answer is " + why);
  chat_reply usage;
  take_usage(all, usage);
  std::vector<chat_reply> replies;
  if (const auto* choices = list_of(all, "choices")) {
    for (const auto& choice : *choices) {
      const auto* one = choice.if_object();
      const json::object* message = one != nullptr ? object_of(*one, "message") : nullptr;
      if (message == nullptr) break;
      replies.push_back(reply_of(*one, *message));
      replies.back().model = usage.model;
    }
  }
  if (replies.empty()) {
    chat_reply reply = malformed("the answer has no choices[0].message");
    take_usage(all, reply);
    return reply;
  }
  chat_reply reply = std::move(replies.front());
  replies.erase(replies.begin());
  take_usage(all, reply);
  reply.further = std::move(replies);
  return reply;
}

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
  const json::object all = parsed_object(text, why);
  if (!why.empty()) {
    if (broken_.empty()) broken_ = "an event is " + why;
    return;
  }
  if (const auto* failed = object_of(all, "error")) {
    broken_ = "the stream says: " + text_of(*failed, "message").substr(0, 300);
    return;
  }
  any_ = true;
  take_usage(all, usage_);
  const auto* choices = list_of(all, "choices");
  for (const auto& choice : choices != nullptr ? *choices : json::array()) {
    if (const auto* one = choice.if_object()) take_choice(*one);
  }
}

void chat_stream::take_choice(const json::object& choice) {
  const auto place = static_cast<std::size_t>(count_of(choice, "index"));
  if (place >= most_replies) return;
  if (replies_.size() <= place) replies_.resize(place + 1);
  written& now = replies_[place];
  if (auto reason = text_of(choice, "finish_reason"); !reason.empty()) now.finish_reason = std::move(reason);
  const auto* part = object_of(choice, "delta");
  if (part == nullptr) return;
  chat_reply& reply = now.reply;
  reply.content += text_of(*part, "content");
  const std::string thought = text_of(*part, "reasoning_content");
  reply.reasoning += thought.empty() ? text_of(*part, "reasoning") : thought;
  if (auto refusal = text_of(*part, "refusal"); !refusal.empty()) reply.detail += refusal;
  if (const auto* calls = list_of(*part, "tool_calls")) {
    for (const auto& call : *calls) {
      const auto* one = call.if_object();
      if (one == nullptr) continue;
      const auto index = static_cast<std::size_t>(count_of(*one, "index"));
      if (index >= 64) continue;
      if (reply.tool_calls.size() <= index) reply.tool_calls.resize(index + 1);
      tool_call& mine = reply.tool_calls[index];
      mine.id += text_of(*one, "id");
      if (const auto* function = object_of(*one, "function")) {
        mine.name += text_of(*function, "name");
        mine.arguments += text_of(*function, "arguments");
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
    if (whole) judge(reply, one.finish_reason, refusal);
  }
  chat_reply reply = std::move(replies.front());
  reply.tokens_in = usage_.tokens_in;
  reply.tokens_out = usage_.tokens_out;
  reply.counted = usage_.counted;
  replies.erase(replies.begin());
  reply.further = std::move(replies);
  if (!whole) {
    reply.status = reply_status::malformed;
    reply.detail = !broken_.empty() ? broken_ : any_ ? "the stream was cut" : "the stream holds no event";
  }
  return reply;
}

std::string embedding_body(const std::string& model, const std::vector<std::string>& texts) {
  json::array list;
  for (const auto& text : texts) list.emplace_back(as_utf8(text));
  return json::serialize(json::object{{"model", model}, {"input", std::move(list)}});
}

std::vector<std::vector<float>> parse_embeddings(std::string_view body, std::size_t count,
                                                 chat_reply& reply) {
  const json::object all = parsed_object(body, reply.detail);
  if (!reply.detail.empty()) return {};
  take_usage(all, reply);
  const auto* data = list_of(all, "data");
  std::vector<std::vector<float>> vectors(count);
  if (data != nullptr && data->size() == count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto* one = (*data)[i].if_object();
      const auto* numbers = one != nullptr ? list_of(*one, "embedding") : nullptr;
      if (numbers == nullptr) break;
      const bool placed = one->if_contains("index") != nullptr;
      const std::size_t index = placed ? static_cast<std::size_t>(count_of(*one, "index")) : i;
      if (index >= count) break;
      for (const auto& number : *numbers) {
        boost::system::error_code ec;
        const auto value = number.to_number<double>(ec);
        vectors[index].push_back(ec ? 0 : static_cast<float>(value));
      }
    }
  }
  const bool whole = data != nullptr && std::all_of(vectors.begin(), vectors.end(), [&](const auto& v) {
                       return !v.empty() && v.size() == vectors.front().size();
                     });
  if (whole) return vectors;
  reply.detail = "the answer does not hold one embedding a text";
  return {};
}

std::string error_text(std::string_view body) {
  std::string why;
  const json::object all = parsed_object(body, why);
  std::string text;
  if (why.empty()) {
    const auto* failed = object_of(all, "error");
    text = failed != nullptr ? text_of(*failed, "message") : text_of(all, "message");
    if (text.empty()) text = text_of(all, "error");
  }
  if (text.empty()) text = std::string(body.substr(0, 300));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return as_utf8(text.substr(0, 300));
}

}  // namespace kevo
