#pragma once
// One HTTP/1.1 request over TCP or TLS, with time-outs that hold. The only unit that knows Asio and Beast is
// http.cpp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/llm/client.hpp>

#include "src/llm/url.hpp"

namespace kevo {

/// The proxy for `to` by the environment: https_proxy or http_proxy, all_proxy, each also in capitals
/// (HTTP_PROXY in capitals is ignored where REQUEST_METHOD is set), unless no_proxy names the host.
std::optional<url> proxy_from_environment(const url& to);

struct http_request {
  url to;
  std::optional<url> proxy;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string ca_file;  ///< certificates to trust beside the system's
  http_limits limits;
  std::stop_token stop;
  bool get = false;  ///< a GET without a body; else it is a POST
  std::function<void(std::string_view)>
      part;  ///< called with every part of a 2xx body as it comes; may be empty
};

enum class http_failure : std::uint8_t { none, connect, tls, timed_out, disconnected, too_large, cancelled };

struct http_response {
  http_failure failure = http_failure::none;
  std::string detail;  ///< of a failure
  unsigned status = 0;
  std::string content_type;
  std::string retry_after;
  std::string location;  ///< where a redirect leads
  std::string body;      ///< what was received, also of a failure
  bool sent = false;     ///< the whole request was sent, so that the server may be at work
};

/// Blocks until the answer is whole or the request failed. Thread-safe. Certificates and host names are
/// always verified. Redirects are not followed: a key must not travel to another host. The name lookup is the
/// system's and cannot be cut short; all else heeds the limits and `stop`.
/// @throws kevo::error (input) if a header or the host has a control character: it could add a header
http_response post(const http_request& what);

}  // namespace kevo
