#include "src/llm/refusals.hpp"

#include <cctype>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

namespace kevo {
namespace {

constexpr std::string_view chat_operation = "/chat/completions";

/// The address that a config names, of one that was asked.
std::string base_of(std::string address) {
  if (const auto at = address.find(chat_operation); at != std::string::npos)
    address.erase(at, chat_operation.size());
  return address;
}

/// Of status 400 and 422: servers tell the reason in words alone.
std::string cure_of_words(std::string said, const refused_request& request) {
  for (char& c : said) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto says = [&said](std::initializer_list<std::string_view> words) {
    for (const auto word : words) {
      if (said.find(word) != std::string::npos) return true;
    }
    return false;
  };
  if (says({"max_completion_tokens"})) return "set `max_tokens_key: max_completion_tokens` for this model";
  if (says({"context length", "context window", "context size", "maximum context", "context_length",
            "too long", "max_model_len"}))
    return fmt::format(
        "the prompt has about {} tokens, and a reply may have {} more (max_tokens): lower "
        "prompt_tokens or max_tokens of the operator, or give the server a longer context",
        request.tokens, request.max_tokens);
  if (says({"max_tokens", "maximum value"}))
    return fmt::format("a reply of {} tokens was allowed: lower max_tokens of the operator",
                       request.max_tokens);
  if (says({"temperature", "top_p"}))
    return "leave temperature and top_p of the operator out, or set the value that the server names";
  if (says({"stream_options", "streaming", "\"stream\"", "'stream'"}))
    return "set `stream: false` for this model";
  if (says({"tool"}))
    return "the operator agent needs a model and a server with tools; vLLM and SGLang need "
           "--tool-call-parser, "
           "llama.cpp needs --jinja";
  if (says({"model"}))
    return fmt::format("the model '{}' was asked: `model` must be a name that the server knows",
                       request.model);
  return {};
}

}  // namespace

std::string cure_of(unsigned status, const std::string& said, const std::string& location,
                    const refused_request& request) {
  if (status / 100 == 3)
    return location.empty()
               ? fmt::format("redirects are not followed; asked was {}: correct url", request.url)
               : fmt::format("redirects are not followed: write url: \"{}\" if you trust this address",
                             base_of(location));
  switch (status) {
    case 400:
    case 422:
      return cure_of_words(said, request);
    case 402:
      return "the account of this key has no credit";
    case 403:
      return fmt::format(
          "the key may not use {} with the model '{}': check key_env or key_file, headers, and "
          "what the account is allowed",
          request.url, request.model);
    case 404:
    case 405:
      return fmt::format(
          "asked was {} for the model '{}': url must be the address before {}, which mostly ends "
          "with /v1, and model a name that the server knows",
          request.url, request.model, chat_operation);
    case 413:
      return fmt::format("the prompt has about {} tokens: lower prompt_tokens of the operator",
                         request.tokens);
    default:
      return {};
  }
}

}  // namespace kevo
