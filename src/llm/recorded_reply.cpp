#include "src/llm/recorded_reply.hpp"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "src/llm/openai_fields.hpp"

namespace kevo {

namespace json = boost::json;

std::string messages_json(const std::vector<chat_message>& messages) {
  return json::serialize(openai::messages_of(messages));
}

std::string sampling_json(const sampling_settings& sampling) {
  json::object object;
  openai::put_sampling(object, sampling, "max_tokens");
  return json::serialize(object);
}

std::string sampling_json(const sampling_settings& sampling, std::int64_t sample, std::int64_t samples) {
  json::object object;
  openai::put_sampling(object, sampling, "max_tokens");
  object["sample"] = sample;
  object["samples"] = samples;
  return json::serialize(object);
}

std::int64_t sample_of_json(std::string_view sampling) {
  std::string why;
  return sampling.empty() ? 0 : openai::count_of(openai::parsed_object(sampling, why), "sample");
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
  if (reply.tokens_cached > 0) one["tokens_cached"] = reply.tokens_cached;
  if (reply.tokens_estimated > 0) one["tokens_estimated"] = reply.tokens_estimated;
  return json::serialize(one);
}

chat_reply reply_of_json(std::string_view text) {
  std::string why;
  const json::object all = openai::parsed_object(text, why);
  const auto status = parse_reply_status(openai::text_of(all, "status"));
  if (!status)
    return openai::malformed("the recorded reply has no status" + (why.empty() ? "" : ": it is " + why));
  chat_reply reply;
  reply.status = *status;
  reply.content = openai::text_of(all, "content");
  reply.reasoning = openai::text_of(all, "reasoning");
  reply.detail = openai::text_of(all, "detail");
  reply.model = openai::text_of(all, "model");
  reply.tries = std::max(1, static_cast<int>(openai::count_of(all, "tries")));
  const auto* last_model = all.if_contains("last_model");
  reply.last_model = last_model != nullptr && last_model->is_bool() && last_model->get_bool();
  reply.tokens_cached = openai::count_of(all, "tokens_cached");
  reply.tokens_estimated = openai::count_of(all, "tokens_estimated");
  if (const auto* calls = openai::list_of(all, "tool_calls")) {
    for (const auto& call : *calls) {
      if (const auto* one = call.if_object())
        reply.tool_calls.push_back(
            {openai::text_of(*one, "id"), openai::text_of(*one, "name"), openai::text_of(*one, "arguments")});
    }
  }
  return reply;
}

}  // namespace kevo
