#include "src/llm/http.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <kevo/error.hpp>

#include "src/llm/base64.hpp"
#include "src/llm/message_text.hpp"

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

// One type for all that continues after a step. Messages are parsed and formatted by Beast's parser and
// serializer, but read and written by Asio's operations: Beast's would be compiled for both streams.
using continuation = std::function<void(const error_code&, std::size_t)>;
using http_request_text = http::request<http::string_body>;
using http_answer_parser = http::response_parser<http::string_body>;

/// Whether a header would end early with this value, so that the rest of it would be another header.
bool breaks_a_header(const std::string& value) {
  return std::any_of(value.begin(), value.end(),
                     [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
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
  error_code step(clock::time_point moment, const char* late,
                  const std::function<void(continuation)>& start) {
    bool done = false;
    error_code result;
    start([&](const error_code& ec, std::size_t bytes) {
      done = true;
      result = ec;
      transferred_ = bytes;
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
    throw broken{http_failure::timed_out,
                 clock::now() >= end_ ? "the whole call took too long (timeouts.total)" : late};
  }

  void connect() {
    const url& first = what_.proxy ? *what_.proxy : what_.to;
    const auto moment = clock::now() + seconds(what_.limits.connect_s);
    tcp::resolver::results_type found;
    error_code ec = step(moment, "resolving the name took too long", [&](const continuation& done) {
      resolver_.async_resolve(first.host, first.port, [&found, done](const error_code& e, auto results) {
        found = results;
        done(e, 0);
      });
    });
    if (ec) throw broken{http_failure::connect, "cannot resolve " + first.host + ": " + ec.message()};
    ec = step(moment, "connecting took too long", [&](const continuation& done) {
      asio::async_connect(socket_, found, [done](const error_code& e, const auto&) { done(e, 0); });
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

  template <class Stream>
  error_code write(Stream& stream, const std::string& text, clock::time_point moment, const char* late) {
    return step(moment, late, [&](continuation done) {
      asio::async_write(stream, asio::const_buffer(asio::buffer(text)), std::move(done));
    });
  }

  /// Reads until the parser has got further.
  template <class Stream>
  error_code read_some(Stream& stream, http_answer_parser& into, clock::time_point moment, const char* late) {
    for (;;) {
      error_code ec;
      if (buffer_.size() > 0) {
        buffer_.consume(into.put(buffer_.data(), ec));
        if (ec != http::error::need_more) return ec;
      }
      ec = step(moment, late,
                [&](continuation done) { stream.async_read_some(buffer_.prepare(65536), std::move(done)); });
      buffer_.commit(transferred_);
      if (ec == asio::error::eof) {
        ec = http::error::end_of_stream;
        if (into.got_some()) into.put_eof(ec = {});
        return ec;
      }
      if (ec) return ec;
    }
  }
  template <class Stream>
  error_code read_header(Stream& stream, http_answer_parser& into, clock::time_point moment,
                         const char* late) {
    into.eager(false);
    error_code ec;
    while (!ec && !into.is_header_done()) ec = read_some(stream, into, moment, late);
    return ec;
  }

  void tunnel(clock::time_point moment) {
    http_request_text ask{http::verb::connect, authority(), 11};
    ask.set(http::field::host, authority());
    authorize_proxy(ask);
    const char* const late = "the proxy took too long";
    error_code ec = write(socket_, message_text(ask), moment, late);
    http_answer_parser said;
    said.skip(true);
    if (!ec) ec = read_header(socket_, said, moment, late);
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
              [&](const continuation& done) {
                stream.async_handshake(ssl::stream_base::client, [done](const error_code& e) { done(e, 0); });
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
    http_request_text ask{what_.get ? http::verb::get : http::verb::post,
                          (through ? "http://" + authority() : std::string()) + what_.to.path, 11};
    const bool usual = what_.to.port == (what_.to.tls ? "443" : "80");
    ask.set(http::field::host, usual ? what_.to.host : authority());
    ask.set(http::field::user_agent, "kevo");
    ask.set(http::field::connection, "close");
    if (through) authorize_proxy(ask);
    for (const auto& [name, value] : what_.headers) ask.set(name, value);
    ask.body() = what_.body;
    ask.prepare_payload();
    const error_code unsent = write(stream, message_text(ask), end_, "sending the request took too long");
    answer_.sent = !unsent;
    // A server that refuses early may close before it has read everything, and its answer is still there.
    const auto first = clock::now() + seconds(what_.limits.first_s);
    std::optional<http_answer_parser> reader;
    try {
      receive(stream, reader, first);
    } catch (...) {  // what was received was paid for, however it ended
      answer_.body = std::move(reader->get().body());
      throw;
    }
    answer_.body = std::move(reader->get().body());
  }

  /// Reads the header of the answer. Others may come before it, which say that the server is at work (1xx).
  template <class Stream>
  error_code read_final_header(Stream& stream, std::optional<http_answer_parser>& reader,
                               clock::time_point first, const char* late) {
    error_code ec;
    do {
      reader.emplace();
      reader->body_limit(what_.limits.body_bytes);
      ec = read_header(stream, *reader, first, late);
    } while (!ec && reader->get().result_int() / 100 == 1);
    return ec;
  }

  template <class Stream>
  void receive(Stream& stream, std::optional<http_answer_parser>& parser, clock::time_point first) {
    const char* const late = "the first token took too long (timeouts.first)";
    const char* const stalled = "the reply stalled: nothing came for too long (timeouts.idle)";
    error_code ec = read_final_header(stream, parser, first, late);
    http_answer_parser& reader = *parser;
    const auto& head = reader.get();
    if (!ec || ec == http::error::body_limit) answer_.status = head.result_int();
    refuse_if_large(ec);
    if (ec)
      throw broken{http_failure::disconnected, "the connection broke before an answer: " + ec.message()};
    answer_.content_type = std::string(head[http::field::content_type]);
    answer_.location = std::string(head[http::field::location]);
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
      const bool begun = seen > 0;
      const auto moment = begun ? clock::now() + seconds(what_.limits.idle_s) : first;
      ec = read_some(stream, reader, moment, begun ? stalled : late);
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
  std::size_t transferred_ = 0;  ///< by the latest step
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
  bool broken_header = breaks_a_header(what.to.host);
  for (const auto& [name, value] : what.headers) broken_header |= breaks_a_header(name + value);
  if (broken_header)
    throw error(kevo::error_code::input,
                "a host name, key or token contains a line break or another control character", {},
                "check the URL and the file or environment variable with the key or token");
  return exchange(what).run();
}

}  // namespace kevo
