#include "src/serve/answer_text.hpp"

#include <utility>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>

#include "src/llm/message_text.hpp"

namespace kevo::serve {
namespace {

namespace http = boost::beast::http;
using response = http::response<http::string_body>;

response head_of(unsigned status, const std::string& content_type, bool keep) {
  response made(static_cast<http::status>(status), 11);
  made.set(http::field::server, "kevo");
  made.set(http::field::content_type, content_type);
  made.set(http::field::cache_control, "no-store");
  made.set("X-Content-Type-Options", "nosniff");
  made.keep_alive(keep);
  return made;
}

}  // namespace

std::string answer_text(http_answer what, bool keep, bool head_only) {
  response made = head_of(what.status, what.content_type, keep);
  for (const auto& [name, value] : what.headers) made.set(name, value);
  made.body() = std::move(what.body);
  made.prepare_payload();
  return message_text(made, head_only);
}

std::string stream_head_text(const std::string& type) {
  return message_text(head_of(200, type, false), true);
}

std::string continue_text() {
  return message_text(response(http::status::continue_, 11), true);
}

}  // namespace kevo::serve
