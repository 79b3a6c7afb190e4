#pragma once
// A program that answers in place of a model's server: it gets the request on its standard input and prints
// the reply.

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/llm/chat.hpp>

namespace kevo {

/// Starts `command` in `directory` with `input` on its standard input, and gives its reply. Blocks. After
/// `limit_s` or a stop the program and all that it started in its process group is ended. A program that ends
/// with another exit code than 0 is a failure (server_error) with the end of its standard error; one that
/// cannot be started is refused (rejected).
chat_reply ask_program(const std::vector<std::string>& command, const std::string& directory,
                       const std::string& input, const std::string& ids, double limit_s,
                       const std::stop_token& stop);

/// What a program prints, or a file of a reply holds: an answer of the chat-completions protocol; an object
/// with `content` and `tool_calls` (each with `name` and `arguments`, or as in the protocol); or any other
/// text, which is the content. `ids` begins the ids of calls that have none.
chat_reply reply_of_program(std::string_view text, const std::string& ids);

}  // namespace kevo
