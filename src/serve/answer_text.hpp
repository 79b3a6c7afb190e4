#pragma once
// Answers of the server as text of HTTP/1.1, formatted by Beast.

#include <string>

#include "src/serve/http_server.hpp"

namespace kevo::serve {

/// A whole answer. `keep`: the connection goes on. `head_only`: without the body, as an answer to HEAD: a
/// client would take it for the beginning of the next answer.
std::string answer_text(http_answer what, bool keep, bool head_only);

/// The header of an answer whose body of this type follows in parts, until the connection ends.
std::string stream_head_text(const std::string& type);

/// What a client waits for that sent `Expect: 100-continue` before it sends the body.
std::string continue_text();

}  // namespace kevo::serve
