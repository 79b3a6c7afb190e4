#pragma once
// The chat-completions and embeddings protocol that OpenAI made and vLLM, SGLang, llama.cpp and hosted
// services speak: requests to JSON and answers to replies. Pure functions of text.

#include <string>
#include <string_view>
#include <vector>

#include <kevo/llm/client.hpp>

namespace kevo {

/// The body of a chat request: JSON, the same text for equal arguments.
std::string chat_body(const chat_request& request, const openai_dialect& dialect);
/// A whole answer. Whatever it holds, the result is a value: malformed, empty, refused, truncated or ok.
chat_reply parse_chat(std::string_view body);

std::string embedding_body(const std::string& model, const std::vector<std::string>& texts);
/// One vector a text, in order; empty with `detail` set if the answer is no good.
/// `reply` is told the tokens.
std::vector<std::vector<float>> parse_embeddings(std::string_view body, std::size_t count, chat_reply& reply);

/// What an error answer says, on one line and at most 300 characters.
std::string error_text(std::string_view body);

}  // namespace kevo
