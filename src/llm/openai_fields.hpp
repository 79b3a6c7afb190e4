#pragma once
// Reading JSON of model servers, and what whole answers and streams have in common. Internal to src/llm.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <kevo/llm/client.hpp>

namespace kevo::openai {

/// The value of a key as UTF-8; empty if it is not there or no string.
std::string text_of(const boost::json::object& from, std::string_view key);
/// The text of a message or of a part of one goes to the reply: a text, or a list of parts, of which those
/// that hold thoughts go to its reasoning.
void take_content(const boost::json::object& from, chat_reply& reply);
/// The arguments of a function: a text, or an object, which becomes one.
std::string arguments_of(const boost::json::object& function);
/// An error that a server tells inside of an answer with status 200: what kind of failure it is, and its
/// words. `otherwise`: the kind if the error has no code or type that is known. Nothing if there is no error.
struct told_error {
  reply_status status = reply_status::server_error;
  std::string message;
};
std::optional<told_error> error_in(const boost::json::object& from, reply_status otherwise);
/// Null if the key is not there or its value is of another type.
const boost::json::object* object_of(const boost::json::object& from, std::string_view key);
const boost::json::array* list_of(const boost::json::object& from, std::string_view key);
/// 0 if the key is not there or its value is no number that is at least 0.
std::int64_t count_of(const boost::json::object& from, std::string_view key);

/// The text as an object. If it is none, `why` says so ("not JSON: ...") and the object is empty.
boost::json::object parsed_object(std::string_view text, std::string& why);

/// The messages of a request; texts that are not UTF-8 are mended, and arguments of calls that are no JSON
/// object are put into one, because servers refuse a conversation that holds others.
boost::json::array messages_of(const std::vector<chat_message>& messages);
void put_sampling(boost::json::object& to, const sampling_settings& s, const std::string& max_tokens_key);

/// The numbers of tokens and the name of the model in an answer or an event of a stream.
void take_usage(const boost::json::object& from, chat_reply& reply);
/// Sets the status of a reply that came whole, and separates thinking from its text.
void judge(chat_reply& reply, const std::string& finish_reason, const std::string& refusal);
chat_reply malformed(std::string why);

}  // namespace kevo::openai
