#include "src/serve/http_connection.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "src/serve/answer_text.hpp"

namespace kevo::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using io_error = boost::system::error_code;

namespace {

using plain_stream = beast::tcp_stream;
using tls_stream = asio::ssl::stream<beast::tcp_stream>;

// One type for all that continues after a read or a write. Messages are parsed and formatted by Beast's
// parser and serializer, but read and written by Asio's operations on text. Beast's operations would be
// compiled once more for each stream and message, which would double the compiler's time for this file (39
// instead of 20 s).
using continuation = std::function<void(const io_error&, std::size_t)>;

std::chrono::steady_clock::duration span(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

/// One connection: reads a request, hands it on, writes the answer, and so on. All members are used on its
/// strand only.
template <class Stream>
class http_connection : public std::enable_shared_from_this<http_connection<Stream>> {
 public:
  http_connection(Stream stream, address_counts::place place, connection_parts& parts)
      : stream_(std::move(stream)), place_(std::move(place)), parts_(parts) {
    ++parts_.counts.open_connections;
  }
  http_connection(const http_connection&) = delete;
  http_connection& operator=(const http_connection&) = delete;
  ~http_connection() { --parts_.counts.open_connections; }

  void start() {
    asio::dispatch(stream_.get_executor(), [self = this->shared_from_this()] { self->handshake(); });
  }

  /// What one request's exchange asks for; ignored if another request has begun since.
  void answer(std::uint64_t number, http_answer what) {
    on_strand(number, [this, what = std::move(what)]() mutable {
      if (answered_) return;
      answered_ = true;
      write(std::move(what), parser_->keep_alive());
    });
  }
  void begin_stream(std::uint64_t number, std::string type) {
    on_strand(number, [this, type = std::move(type)] {
      if (answered_) return;
      answered_ = true;
      streaming_ = true;
      send_part(stream_head_text(type));
      ping();
    });
  }
  void send(std::uint64_t number, std::string part) {
    // Never within this call: whoever sends may hold a lock that the end of the connection needs.
    asio::post(stream_.get_executor(),
               [self = this->shared_from_this(), number, part = std::move(part)]() mutable {
                 if (number == self->number_ && !self->closed_) self->send_part(std::move(part));
               });
  }
  void after(std::uint64_t number, double seconds, std::function<void()> then) {
    on_strand(number, [this, number, seconds, then = std::move(then)]() mutable {
      if (answered_) return;
      timer_.emplace(stream_.get_executor());
      timer_->expires_after(span(seconds));
      timer_->async_wait(
          [self = this->shared_from_this(), number, then = std::move(then)](const io_error& ec) {
            if (!ec && number == self->number_ && !self->answered_) then();
          });
    });
  }
  void when_over(std::uint64_t number, std::function<void()> then) {
    asio::dispatch(stream_.get_executor(),
                   [self = this->shared_from_this(), number, then = std::move(then)]() mutable {
                     if (number != self->number_ || self->closed_) return then();
                     self->over_.push_back(std::move(then));
                   });
  }

 private:
  void on_strand(std::uint64_t number, std::function<void()> work) {
    asio::dispatch(stream_.get_executor(), [self = this->shared_from_this(), number, work = std::move(work)] {
      if (number == self->number_ && !self->closed_) work();
    });
  }

  void handshake() {
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      beast::get_lowest_layer(stream_).expires_after(span(parts_.settings.head_s));
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](const io_error& ec) {
                                if (ec) return self->give_up(ec);
                                self->wait_for_request();
                              });
    } else {
      wait_for_request();
    }
  }

  // The time for a header counts from its first byte, so that a connection may rest between requests.
  void wait_for_request() {
    if (buffer_.size() > 0) return read_header();
    beast::get_lowest_layer(stream_).expires_after(
        span(number_ == 0 ? parts_.settings.head_s : parts_.settings.idle_s));
    continuation come = [self = this->shared_from_this()](const io_error& ec, std::size_t got) {
      self->buffer_.commit(got);
      if (ec) return self->close();
      self->read_header();
    };
    stream_.async_read_some(buffer_.prepare(4096), std::move(come));
  }

  void read_header() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(parts_.settings.header_bytes));
    parser_->body_limit(parts_.settings.body_bytes);
    beast::get_lowest_layer(stream_).expires_after(span(parts_.settings.head_s));
    read_until(false, &http_connection::admit);
  }

  using step = void (http_connection::*)();

  /// Parses what has come, and reads on until the header, or with `whole` the message, is there.
  void read_until(bool whole, step then) {
    parser_->eager(whole);
    io_error ec;
    while (!ec && !is_read(whole) && buffer_.size() > 0) buffer_.consume(parser_->put(buffer_.data(), ec));
    if (ec && ec != http::error::need_more) return refuse(ec);
    if (is_read(whole)) return (this->*then)();
    continuation come = [self = this->shared_from_this(), whole, then](io_error failed, std::size_t got) {
      self->buffer_.commit(got);
      if (failed == asio::error::eof) {
        failed = http::error::end_of_stream;
        if (self->parser_->got_some()) self->parser_->put_eof(failed = {});
      }
      if (failed) return self->refuse(failed);
      self->read_until(whole, then);
    };
    stream_.async_read_some(buffer_.prepare(whole ? 65536 : 4096), std::move(come));
  }
  bool is_read(bool whole) const { return whole ? parser_->is_done() : parser_->is_header_done(); }

  // Who may not ask shall not use memory and time with a body.
  void admit() {
    const bool whole = parser_->is_done();
    if (auto refused = parts_.admit(head(), !whole))
      return write(std::move(*refused), whole && parser_->keep_alive());
    read_body();
  }

  http_call head() const {
    const auto& request = parser_->get();
    http_call call;
    call.method = std::string(request.method_string());
    const std::string target(request.target());
    const auto mark = target.find('?');
    call.path = target.substr(0, mark);
    if (mark != std::string::npos) call.query = target.substr(mark + 1);
    call.authorization = std::string(request[http::field::authorization]);
    return call;
  }

  void read_body() {
    if (beast::iequals(parser_->get()[http::field::expect], "100-continue") && !parser_->is_done()) {
      written_ = continue_text();
      return write_then([self = this->shared_from_this()](const io_error& ec, std::size_t) {
        if (ec) return self->give_up(ec);
        self->read_rest();
      });
    }
    read_rest();
  }

  void read_rest() {
    beast::get_lowest_layer(stream_).expires_after(span(parts_.settings.body_s));
    read_until(true, &http_connection::hand_on);
  }

  void hand_on();  // below, where the exchange is complete

  void write(http_answer what, bool keep) {
    const std::size_t digit = what.status / 100;
    if (digit < parts_.counts.answers.size()) ++parts_.counts.answers[digit];
    const bool head_only = parser_->is_header_done() && parser_->get().method() == http::verb::head;
    written_ = answer_text(std::move(what), keep, head_only);
    beast::get_lowest_layer(stream_).expires_after(span(parts_.settings.write_s));
    write_then([self = this->shared_from_this(), keep](const io_error& ec, std::size_t) {
      if (ec) return self->give_up(ec);
      self->end_request();
      if (!keep) return self->close_gracefully();
      self->wait_for_request();
    });
  }

  void write_then(continuation then) {
    asio::async_write(stream_, asio::const_buffer(asio::buffer(written_)), std::move(then));
  }

  void end_request() {
    timer_.reset();
    auto told = std::move(over_);
    over_.clear();
    for (const auto& one : told) one();
  }

  // What is no request of HTTP, or too large, or too slow.
  void refuse(const io_error& ec) {
    if (ec == http::error::end_of_stream) return close();
    if (ec == beast::error::timeout) return give_up(ec);
    unsigned status = 400;
    std::string code = "usage";
    std::string message = "this is not a valid HTTP request";
    if (ec == http::error::body_limit) {
      status = 413;
      code = "too_large";
      message = "the body is larger than " + std::to_string(parts_.settings.body_bytes) + " bytes";
    } else if (ec == http::error::header_limit) {
      status = 431;
      code = "too_large";
      message = "the header is larger than " + std::to_string(parts_.settings.header_bytes) + " bytes";
    } else if (ec.category() != http::make_error_code(http::error::bad_method).category()) {
      return close();  // the connection is broken
    }
    write({.status = status, .body = R"({"error":{"code":")" + code + R"(","message":")" + message + "\"}}"},
          false);
  }

  // A socket that is closed with unread bytes drops what was written; so the client gets a moment to stop.
  void close_gracefully() {
    io_error ignored;
    beast::get_lowest_layer(stream_).socket().shutdown(tcp::socket::shutdown_send, ignored);
    beast::get_lowest_layer(stream_).expires_after(span(2));
    drained_ = 0;
    drain();
  }
  void drain() {
    buffer_.clear();
    continuation come = [self = this->shared_from_this()](const io_error& ec, std::size_t got) {
      self->drained_ += got;
      constexpr std::size_t most_drained = std::size_t{4} << 20U;
      if (ec || self->drained_ > most_drained) return self->close();
      self->drain();
    };
    beast::get_lowest_layer(stream_).async_read_some(buffer_.prepare(65536), std::move(come));
  }

  void send_part(std::string part) {
    if (!streaming_) return;
    waiting_bytes_ += part.size();
    if (waiting_bytes_ > parts_.settings.backlog_bytes) {
      ++parts_.counts.slow_clients;
      return close();
    }
    parts_to_send_.push_back(std::move(part));
    if (parts_to_send_.size() == 1) write_part();
  }
  void write_part() {
    beast::get_lowest_layer(stream_).expires_after(span(parts_.settings.write_s));
    written_ = std::move(parts_to_send_.front());
    write_then([self = this->shared_from_this()](const io_error& ec, std::size_t) {
      if (ec) return self->give_up(ec);
      self->waiting_bytes_ -= self->written_.size();
      self->parts_to_send_.pop_front();
      if (!self->parts_to_send_.empty()) return self->write_part();
      beast::get_lowest_layer(self->stream_).expires_never();
    });
  }
  // A stream whose client has gone is noticed by writing to it.
  void ping() {
    timer_.emplace(stream_.get_executor());
    timer_->expires_after(span(10));
    timer_->async_wait([self = this->shared_from_this()](const io_error& ec) {
      if (ec || self->closed_) return;
      self->send_part(": still here\n\n");
      self->ping();
    });
  }

  void give_up(const io_error& ec) {
    if (ec == beast::error::timeout) ++parts_.counts.slow_clients;
    close();
  }
  void close() {
    if (closed_) return;
    closed_ = true;
    io_error ignored;
    beast::get_lowest_layer(stream_).socket().close(ignored);
    end_request();
  }

  Stream stream_;
  address_counts::place place_;
  connection_parts& parts_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string written_;  ///< by the write that is under way
  std::optional<asio::steady_timer> timer_;
  std::vector<std::function<void()>> over_;
  std::deque<std::string> parts_to_send_;
  std::size_t waiting_bytes_ = 0;
  std::size_t drained_ = 0;
  std::uint64_t number_ = 0;  ///< of the request
  bool answered_ = true;
  bool streaming_ = false;
  bool closed_ = false;
};

template <class Stream>
class exchange_of final : public http_exchange {
 public:
  exchange_of(std::weak_ptr<http_connection<Stream>> connection, std::uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  void answer(http_answer what) override {
    if (const auto there = connection_.lock()) there->answer(number_, std::move(what));
  }
  void begin_stream(std::string type) override {
    if (const auto there = connection_.lock()) there->begin_stream(number_, std::move(type));
  }
  void send(std::string part) override {
    if (const auto there = connection_.lock()) there->send(number_, std::move(part));
  }
  void after(double seconds, std::function<void()> then) override {
    if (const auto there = connection_.lock()) there->after(number_, seconds, std::move(then));
  }
  void when_over(std::function<void()> then) override {
    if (const auto there = connection_.lock()) return there->when_over(number_, std::move(then));
    then();
  }

 private:
  // Whoever waits for an evaluation may keep this for longer than the server lives.
  std::weak_ptr<http_connection<Stream>> connection_;
  std::uint64_t number_;
};

template <class Stream>
void http_connection<Stream>::hand_on() {
  beast::get_lowest_layer(stream_).expires_never();
  ++number_;
  answered_ = false;
  http_call call = head();
  call.body = std::move(parser_->get().body());
  // Something has to be pending, or nothing would keep this object.
  constexpr double longest_answer_s = 4000;
  after(number_, longest_answer_s, [this, number = number_] {
    answer(number, {.status = 503, .body = R"({"error":{"code":"busy","message":"no answer in time"}})"});
  });
  parts_.handle(call, std::make_shared<exchange_of<Stream>>(this->shared_from_this(), number_));
}

}  // namespace

void start_connection(asio::io_context& on, asio::ssl::context* tls, int socket, bool v6,
                      address_counts::place place, connection_parts& parts) {
  tcp::socket taken(asio::make_strand(on), v6 ? tcp::v6() : tcp::v4(), socket);
  io_error ignored;
  taken.set_option(tcp::no_delay(true), ignored);
  if (tls != nullptr) {
    std::make_shared<http_connection<tls_stream>>(tls_stream(plain_stream(std::move(taken)), *tls),
                                                  std::move(place), parts)
        ->start();
  } else {
    std::make_shared<http_connection<plain_stream>>(plain_stream(std::move(taken)), std::move(place), parts)
        ->start();
  }
}

}  // namespace kevo::serve
