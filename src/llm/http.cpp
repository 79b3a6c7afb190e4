#include "src/llm/http.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <memory>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <kevo/error.hpp>

#include "src/llm/base64.hpp"

namespace kevo {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using clock = std::chrono::steady_clock;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string variable(const std::string& name) {
  for (const std::string& spelled : {name, [&] {
                                       std::string upper = name;
                                       for (char& c : upper) c = static_cast<char>(std::toupper(c));
                                       return upper;
                                     }()}) {
    // A CGI server puts a client's "Proxy" header into HTTP_PROXY.
    if (spelled == "HTTP_PROXY" && std::getenv("REQUEST_METHOD") != nullptr) continue;
    if (const char* value = std::getenv(spelled.c_str()); value != nullptr && *value != 0) return value;
  }
  return {};
}

bool excluded(const std::string& list, const url& to) {
  const std::string host = lower(to.host);
  std::size_t at = 0;
  while (at <= list.size()) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    std::string name = lower(list.substr(at, end - at));
    at = end + 1;
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (name == "*") return true;
    if (name.starts_with("*.")) name.erase(0, 1);
    if (const auto colon = name.rfind(':'); colon != std::string::npos && name.find(':') == colon) {
      if (name.substr(colon + 1) != to.port) continue;
      name.erase(colon);
    }
    if (name.empty()) continue;
    const std::string bare = name.front() == '.' ? name.substr(1) : name;
    if (host == bare || host.ends_with("." + bare)) return true;
  }
  return false;
}

/// A step that did not end well; it does not leave this file.
struct broken {
  http_failure kind;
  std::string detail;
};

/// One connection with a reactor of its own: asynchronous steps, each waited for until a moment.
class exchange {
 public:
  explicit exchange(const http_request& what)
      : what_(what), end_(clock::now() + seconds(what.limits.total_s)), socket_(io_) {}

  http_response run() {
    const std::stop_callback on_stop(what_.stop, [this] {
      asio::post(io_, [this] {
        stopped_ = true;
        close();
      });
    });
    try {
      connect();
      if (what_.to.tls) {
        talk_tls();
      } else {
        talk(socket_);
      }
    } catch (const broken& failure) {
      answer_.failure = what_.stop.stop_requested() ? http_failure::cancelled : failure.kind;
      answer_.detail = failure.detail;
    } catch (const std::exception& unforeseen) {  // no memory for TLS, for instance
      answer_.failure = http_failure::connect;
      answer_.detail = unforeseen.what();
    }
    close();
    return std::move(answer_);
  }

 private:
  static clock::duration seconds(double s) {
    return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(std::min(s, 1e8)));
  }
  void close() {
    error_code ignored;
    resolver_.cancel();
    socket_.close(ignored);
  }

  /// Starts a step and waits for its end, at most until `moment`.
  template <class Start>
  error_code step(clock::time_point moment, const char* late, Start start) {
    bool done = false;
    error_code result;
    start([&](const error_code& ec) {
      done = true;
      result = ec;
    });
    io_.restart();
    while (!done && !stopped_ && io_.run_one_until(std::min(moment, end_)) > 0) {
    }
    if (done && !stopped_) return result;
    close();
    io_.restart();
    while (!done && io_.run_one() > 0) {
    }
    if (stopped_) throw broken{http_failure::cancelled, "cancelled"};
    throw broken{http_failure::timed_out, clock::now() >= end_ ? "the whole call took too long" : late};
  }

  void connect() {
    const url& first = what_.proxy ? *what_.proxy : what_.to;
    const auto moment = clock::now() + seconds(what_.limits.connect_s);
    tcp::resolver::results_type found;
    error_code ec = step(moment, "resolving the name took too long", [&](auto done) {
      resolver_.async_resolve(first.host, first.port, [&found, done](const error_code& e, auto results) {
        found = results;
        done(e);
      });
    });
    if (ec) throw broken{http_failure::connect, "cannot resolve " + first.host + ": " + ec.message()};
    ec = step(moment, "connecting took too long", [&](auto done) {
      asio::async_connect(socket_, found, [done](const error_code& e, const auto&) { done(e); });
    });
    if (ec)
      throw broken{http_failure::connect,
                   "cannot connect to " + first.host + ":" + first.port + ": " + ec.message()};
    socket_.set_option(tcp::no_delay(true), ec);
    if (what_.proxy && what_.to.tls) tunnel(moment);
  }

  std::string authority() const {
    const bool v6 = what_.to.host.find(':') != std::string::npos;
    return (v6 ? "[" + what_.to.host + "]" : what_.to.host) + ":" + what_.to.port;
  }
  void authorize_proxy(http::fields& headers) const {
    if (what_.proxy->user.empty()) return;
    headers.set(http::field::proxy_authorization, "Basic " + base64(what_.proxy->user));
  }

  void tunnel(clock::time_point moment) {
    http::request<http::empty_body> ask{http::verb::connect, authority(), 11};
    ask.set(http::field::host, authority());
    authorize_proxy(ask);
    error_code ec = step(moment, "the proxy took too long", [&](auto done) {
      http::async_write(socket_, ask, [done](const error_code& e, std::size_t) { done(e); });
    });
    http::response_parser<http::empty_body> said;
    said.skip(true);
    if (!ec) {
      ec = step(moment, "the proxy took too long", [&](auto done) {
        http::async_read_header(socket_, buffer_, said,
                                [done](const error_code& e, std::size_t) { done(e); });
      });
    }
    if (ec) throw broken{http_failure::connect, "the proxy broke off: " + ec.message()};
    if (said.get().result() != http::status::ok)
      throw broken{http_failure::connect,
                   "the proxy answered " + std::to_string(said.get().result_int()) + " to CONNECT"};
    buffer_.consume(buffer_.size());
  }

  void talk_tls() {
    ssl::context context(ssl::context::tls_client);
    error_code ec;
    context.set_default_verify_paths(ec);
    if (!what_.ca_file.empty()) {
      context.load_verify_file(what_.ca_file, ec);
      if (ec)
        throw broken{http_failure::tls,
                     "cannot read the certificates in " + what_.ca_file + ": " + ec.message()};
    }
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    ssl::stream<tcp::socket&> stream(socket_, context);
    stream.set_verify_mode(ssl::verify_peer);
    stream.set_verify_callback(ssl::host_name_verification(what_.to.host));
    SSL_set_tlsext_host_name(stream.native_handle(), what_.to.host.c_str());
    ec = step(clock::now() + seconds(what_.limits.connect_s), "the TLS handshake took too long",
              [&](auto done) {
                stream.async_handshake(ssl::stream_base::client, [done](const error_code& e) { done(e); });
              });
    if (ec) throw broken{http_failure::tls, "no trusted TLS with " + what_.to.host + ": " + ec.message()};
    talk(stream);
  }

  void refuse_if_large(const error_code& ec) const {
    if (ec == http::error::body_limit)
      throw broken{http_failure::too_large,
                   "the answer is larger than " + std::to_string(what_.limits.body_bytes) + " bytes"};
  }

  template <class Stream>
  void talk(Stream& stream) {
    const bool through = what_.proxy && !what_.to.tls;
    http::request<http::string_body> ask{
        http::verb::post, (through ? "http://" + authority() : std::string()) + what_.to.path, 11};
    const bool usual = what_.to.port == (what_.to.tls ? "443" : "80");
    ask.set(http::field::host, usual ? what_.to.host : authority());
    ask.set(http::field::user_agent, "kevo");
    ask.set(http::field::connection, "close");
    if (through) authorize_proxy(ask);
    for (const auto& [name, value] : what_.headers) ask.set(name, value);
    ask.body() = what_.body;
    ask.prepare_payload();
    const error_code unsent = step(end_, "sending the request took too long", [&](auto done) {
      http::async_write(stream, ask, [done](const error_code& e, std::size_t) { done(e); });
    });
    answer_.sent = !unsent;
    // A server that refuses early may close before it has read everything, and its answer is still there.
    const auto first = clock::now() + seconds(what_.limits.first_s);
    http::response_parser<http::string_body> reader;
    reader.body_limit(what_.limits.body_bytes);
    try {
      receive(stream, reader, first);
    } catch (...) {  // what was received was paid for, however it ended
      answer_.body = std::move(reader.get().body());
      throw;
    }
    answer_.body = std::move(reader.get().body());
  }

  template <class Stream>
  void receive(Stream& stream, http::response_parser<http::string_body>& reader, clock::time_point first) {
    error_code ec = step(first, "the first token took too long", [&](auto done) {
      http::async_read_header(stream, buffer_, reader, [done](const error_code& e, std::size_t) { done(e); });
    });
    const auto& head = reader.get();
    if (!ec || ec == http::error::body_limit) answer_.status = head.result_int();
    refuse_if_large(ec);
    if (ec)
      throw broken{http_failure::disconnected, "the connection broke before an answer: " + ec.message()};
    answer_.content_type = std::string(head[http::field::content_type]);
    answer_.retry_after = std::string(head[http::field::retry_after]);
    std::size_t seen = 0;
    const auto take = [&] {
      const std::string& body = reader.get().body();
      if (body.size() > seen && what_.part && answer_.status / 100 == 2)
        what_.part(std::string_view(body).substr(seen));
      seen = body.size();
    };
    take();
    while (!reader.is_done()) {
      ec = step(seen == 0 ? first : end_, "the first token took too long", [&](auto done) {
        http::async_read_some(stream, buffer_, reader, [done](const error_code& e, std::size_t) { done(e); });
      });
      take();
      if (ec) break;
    }
    refuse_if_large(ec);
    if (!reader.is_done())
      throw broken{http_failure::disconnected,
                   "the connection broke in the middle of the answer: " + ec.message()};
  }

  const http_request& what_;
  clock::time_point end_;
  asio::io_context io_{1};
  tcp::resolver resolver_{io_};
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  bool stopped_ = false;
  http_response answer_;
};

}  // namespace

std::optional<url> proxy_from_environment(const url& to) {
  if (excluded(variable("no_proxy"), to)) return std::nullopt;
  std::string named = variable(to.tls ? "https_proxy" : "http_proxy");
  if (named.empty()) named = variable("all_proxy");
  if (named.empty()) return std::nullopt;
  if (named.find("://") == std::string::npos) named = "http://" + named;
  url proxy = parse_url(named);
  if (proxy.tls)
    throw error(kevo::error_code::environment, "a proxy that is itself reached by https is not supported", {},
                "name the proxy as http://host:port");
  return proxy;
}

http_response post(const http_request& what) {
  return exchange(what).run();
}

}  // namespace kevo
