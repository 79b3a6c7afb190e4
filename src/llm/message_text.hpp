#pragma once
// An HTTP message as it is sent, by Beast's serializer. Beast's own operations for writing would be compiled
// once more for each stream and each type of message.

#include <string>
#include <type_traits>

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>

namespace kevo {

/// The whole message; of a request, or of an answer to one. `head_only`: without its body, as HEAD is
/// answered (Content-Length stays) and as a stream begins.
template <bool request>
std::string message_text(const boost::beast::http::message<request, boost::beast::http::string_body>& of,
                         bool head_only = false) {
  boost::beast::http::serializer<request, boost::beast::http::string_body> from(of);
  from.split(head_only);
  std::string text;
  boost::beast::error_code failed;
  while (!failed && !(head_only ? from.is_header_done() : from.is_done()))
    from.next(failed, [&](boost::beast::error_code&, const auto& buffers) {
      text += boost::beast::buffers_to_string(buffers);
      from.consume(boost::beast::buffer_bytes(buffers));
    });
  return text;
}

}  // namespace kevo
