#pragma once
// An HTTP/1.1 server over TCP or TLS with limits on everything a client chooses. It knows nothing of
// evaluations. The only units of this folder that know Asio, Beast and TLS are http_server.cpp and
// http_connection.cpp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/serve/metrics.hpp"

namespace kevo::serve {

/// A request, read whole.
struct http_call {
  std::string method;         ///< "GET", "POST", ...
  std::string path;           ///< as the client wrote it, without the query; begins with a slash
  std::string query;          ///< without the question mark
  std::string authorization;  ///< the header's value; empty if there is none
  std::string body;
};

struct http_answer {
  unsigned status = 200;
  std::string body{};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// The way back to a client. May be kept and used from any thread; the first answer counts, and after the
/// connection has ended all calls do nothing.
class http_exchange {
 public:
  http_exchange() = default;
  http_exchange(const http_exchange&) = delete;
  http_exchange& operator=(const http_exchange&) = delete;
  virtual ~http_exchange() = default;
  virtual void answer(http_answer what) = 0;
  /// Begins an answer of no known length, which `send` continues until the client closes the connection.
  virtual void begin_stream(std::string content_type) = 0;
  /// A client that does not read what is sent is disconnected.
  virtual void send(std::string part) = 0;
  /// Calls `then` once after so many seconds, on a thread of the server, unless the exchange is over by then.
  virtual void after(double seconds, std::function<void()> then) = 0;
  /// Calls `then` when the exchange is over, whatever ended it: once.
  virtual void when_over(std::function<void()> then) = 0;
};

using http_handler = std::function<void(const http_call&, const std::shared_ptr<http_exchange>&)>;
/// Asked when the header has arrived and the body has not: an answer refuses the request, whose body is then
/// not read. `with_body`: whether one follows.
using http_gate = std::function<std::optional<http_answer>(const http_call& head, bool with_body)>;

struct http_settings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;   ///< 0: any free one
  std::string certificate;  ///< PEM file with the chain; empty: no TLS
  std::string key;          ///< PEM file
  std::size_t threads = 2;
  std::size_t connections = 1024;                     ///< at once
  std::size_t connections_of_address = 256;           ///< at once, of them
  std::size_t body_bytes = std::size_t{16} << 20U;    ///< of a request
  std::size_t header_bytes = std::size_t{16} << 10U;  ///< of a request
  std::size_t backlog_bytes = std::size_t{1} << 20U;  ///< of a stream that its client does not read
  double head_s = 10;   ///< [s] for the TLS handshake and for a header from its first byte
  double body_s = 60;   ///< [s] for a body
  double write_s = 60;  ///< [s] for an answer to be read
  double idle_s = 75;   ///< [s] between requests of a connection
};

/// Serves from its construction to its destruction, on threads of its own.
class http_server {
 public:
  /// @throws kevo::error: input (address, certificate, key), environment (the port is in use)
  http_server(http_settings settings, http_gate admit, http_handler handle, metrics& counts);
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  ~http_server();
  std::uint16_t port() const;
  /// Whether an address can be reached from this machine only ("127.0.0.1", "::1").
  static bool is_loopback(const std::string& address);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace kevo::serve
