#pragma once
// The chat-completions and embeddings protocol that OpenAI made and vLLM, SGLang, llama.cpp and hosted
// services speak: requests to JSON, answers and event streams to replies. Pure functions of text.

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

#include <kevo/llm/client.hpp>

namespace kevo {

/// The body of a chat request: JSON, the same text for equal arguments.
std::string chat_body(const chat_request& request, const openai_dialect& dialect);
/// The messages alone, as a JSON list.
std::string messages_json(const std::vector<chat_message>& messages);
/// What the sampling settings say, as a JSON object.
std::string sampling_json(const sampling_settings& sampling);
/// Such an object with which of several replies to one prompt it was: `sample`, from 0, of `samples`.
std::string sampling_json(const sampling_settings& sampling, std::int64_t sample, std::int64_t samples);
/// The `sample` of such an object; 0 if it has none.
std::int64_t sample_of_json(std::string_view sampling);
/// A reply as the JSON object that journals keep, without what is empty.
std::string reply_json(const chat_reply& reply);
/// Such an object as a reply, without what journals keep in columns of their own; malformed if it is none.
chat_reply reply_of_json(std::string_view text);

/// A whole answer. Whatever it holds, the result is a value: malformed, empty, refused, truncated or ok.
chat_reply parse_chat(std::string_view body);

/// An answer that comes as server-sent events, in parts of any size.
class chat_stream {
 public:
  void feed(std::string_view part);
  /// The reply so far; malformed unless the stream came to its end.
  chat_reply finish();

 private:
  /// A reply that is being written.
  struct written {
    chat_reply reply;
    std::string finish_reason;
  };
  void line(std::string_view text);
  void delta(std::string_view text);
  void take_choice(const boost::json::object& choice);

  std::string rest_;
  chat_reply usage_;                                        ///< tokens and model
  std::vector<written> replies_ = std::vector<written>(1);  ///< by the index of their choice
  std::string broken_;
  bool done_ = false;
  bool any_ = false;
};

/// What an answer that cannot be read still says of its tokens: the last usage record in it.
void take_stray_usage(std::string_view received, chat_reply& reply);

std::string embedding_body(const std::string& model, const std::vector<std::string>& texts);
/// One vector a text, in order; empty with `detail` set if the answer is no good.
/// `reply` is told the tokens.
std::vector<std::vector<float>> parse_embeddings(std::string_view body, std::size_t count, chat_reply& reply);

/// What an error answer says, on one line and at most 300 characters.
std::string error_text(std::string_view body);

}  // namespace kevo
