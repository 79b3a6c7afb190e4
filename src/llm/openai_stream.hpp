#pragma once
// The event streams of the chat-completions protocol, in which a reply comes in parts.

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

#include <kevo/llm/client.hpp>

namespace kevo {

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
  reply_status broken_as_ = reply_status::malformed;
  bool done_ = false;
  bool any_ = false;
};

/// What an answer that cannot be read still says of its tokens: the last usage record in it.
void take_stray_usage(std::string_view received, chat_reply& reply);

}  // namespace kevo
