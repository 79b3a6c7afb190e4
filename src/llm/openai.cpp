#include "src/llm/openai.hpp"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "src/base/text/utf8.hpp"
#include "src/llm/openai_fields.hpp"

namespace kevo {

namespace json = boost::json;

std::string chat_body(const chat_request& request, const openai_dialect& dialect) {
  json::object body{{"model", dialect.model}, {"messages", openai::messages_of(request.messages)}};
  openai::put_sampling(body, request.sampling, dialect.max_tokens_key);
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

void fail_with(chat_reply& reply, const openai::told_error& told) {
  reply.status = told.status;
  reply.detail = "the server answered 200 with an error: " + told.message;
}

/// A choice of an answer as a reply, without tokens.
chat_reply reply_of(const json::object& choice, const json::object& message) {
  chat_reply reply;
  openai::take_content(message, reply);
  const std::string thought = openai::text_of(message, "reasoning_content");
  reply.reasoning += thought.empty() ? openai::text_of(message, "reasoning") : thought;
  if (const auto* calls = openai::list_of(message, "tool_calls")) {
    for (const auto& call : *calls) {
      const auto* one = call.if_object();
      const auto* function = one != nullptr ? openai::object_of(*one, "function") : nullptr;
      if (function == nullptr) continue;
      reply.tool_calls.push_back(
          {openai::text_of(*one, "id"), openai::text_of(*function, "name"), openai::arguments_of(*function)});
    }
  }
  if (const auto* probabilities = choice.if_contains("logprobs");
      probabilities != nullptr && !probabilities->is_null())
    reply.log_probabilities = json::serialize(*probabilities);
  if (const auto* ids = choice.if_contains("token_ids"); ids != nullptr && ids->is_array())
    reply.token_ids = json::serialize(*ids);
  openai::judge(reply, openai::text_of(choice, "finish_reason"), openai::text_of(message, "refusal"));
  if (const auto told = openai::error_in(choice, reply_status::server_error)) fail_with(reply, *told);
  return reply;
}

}  // namespace

chat_reply parse_chat(std::string_view body) {
  std::string why;
  const json::object all = openai::parsed_object(body, why);
  if (!why.empty()) return openai::malformed("the answer is " + why);
  chat_reply usage;
  openai::take_usage(all, usage);
  std::vector<chat_reply> replies;
  if (const auto* choices = openai::list_of(all, "choices")) {
    for (const auto& choice : *choices) {
      const auto* one = choice.if_object();
      const json::object* message = one != nullptr ? openai::object_of(*one, "message") : nullptr;
      if (message == nullptr) break;
      replies.push_back(reply_of(*one, *message));
      replies.back().model = usage.model;
    }
  }
  if (replies.empty()) {
    chat_reply reply = openai::malformed("the answer has no choices[0].message");
    if (const auto told = openai::error_in(all, reply_status::server_error)) fail_with(reply, *told);
    openai::take_usage(all, reply);
    return reply;
  }
  chat_reply reply = std::move(replies.front());
  replies.erase(replies.begin());
  openai::take_usage(all, reply);
  reply.further = std::move(replies);
  return reply;
}

std::string embedding_body(const std::string& model, const std::vector<std::string>& texts) {
  json::array list;
  for (const auto& text : texts) list.emplace_back(as_utf8(text));
  return json::serialize(json::object{{"model", model}, {"input", std::move(list)}});
}

std::vector<std::vector<float>> parse_embeddings(std::string_view body, std::size_t count,
                                                 chat_reply& reply) {
  const json::object all = openai::parsed_object(body, reply.detail);
  if (!reply.detail.empty()) return {};
  openai::take_usage(all, reply);
  const auto* data = openai::list_of(all, "data");
  std::vector<std::vector<float>> vectors(count);
  if (data != nullptr && data->size() == count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto* one = (*data)[i].if_object();
      const auto* numbers = one != nullptr ? openai::list_of(*one, "embedding") : nullptr;
      if (numbers == nullptr) break;
      const bool placed = one->if_contains("index") != nullptr;
      const std::size_t index = placed ? static_cast<std::size_t>(openai::count_of(*one, "index")) : i;
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
  const json::object all = openai::parsed_object(body, why);
  std::string text;
  if (why.empty()) {
    const auto* failed = openai::object_of(all, "error");
    text = failed != nullptr ? openai::text_of(*failed, "message") : openai::text_of(all, "message");
    if (text.empty()) text = openai::text_of(all, "error");
  }
  if (text.empty()) text = std::string(body.substr(0, 300));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return as_utf8(text.substr(0, 300));
}

}  // namespace kevo
