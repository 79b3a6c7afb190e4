#include "src/serve/http_server.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <kevo/error.hpp>

#include "src/serve/http_connection.hpp"

namespace kevo::serve {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using io_error = boost::system::error_code;

class http_server::impl {
 public:
  impl(http_settings settings, http_gate admit, http_handler handle, metrics& counts)
      : parts_{std::move(settings), std::move(admit), std::move(handle), counts},
        acceptor_(asio::make_strand(io_)) {
    if (!parts_.settings.certificate.empty()) read_certificate();
    open();
    accept();
    for (std::size_t i = 0; i < std::max<std::size_t>(parts_.settings.threads, 1); ++i)
      threads_.emplace_back([this] { io_.run(); });
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl() {
    io_.stop();
    threads_.clear();
  }
  std::uint16_t port() const { return port_; }

 private:
  void read_certificate() {
    context_.emplace(asio::ssl::context::tls_server);
    io_error ec;
    context_->use_certificate_chain_file(parts_.settings.certificate, ec);
    if (ec)
      throw error(error_code::input, "cannot read this certificate: " + ec.message(),
                  {parts_.settings.certificate}, "give a PEM file with --certificate");
    context_->use_private_key_file(parts_.settings.key, asio::ssl::context::pem, ec);
    if (ec)
      throw error(error_code::input,
                  "cannot read this key, or it is not that of the certificate: " + ec.message(),
                  {parts_.settings.key}, "give the PEM file of the certificate's key with --key");
    SSL_CTX_set_min_proto_version(context_->native_handle(), TLS1_2_VERSION);
  }

  void open() {
    io_error ec;
    const auto address = asio::ip::make_address(parts_.settings.address, ec);
    if (ec)
      throw error(error_code::usage, "'" + parts_.settings.address + "' is not an IP address", {},
                  "for example 127.0.0.1, 0.0.0.0 or ::1");
    const tcp::endpoint where(address, parts_.settings.port);
    acceptor_.open(where.protocol(), ec);
    if (!ec) acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
    if (!ec) acceptor_.bind(where, ec);
    if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    if (ec)
      throw error(error_code::environment,
                  "cannot listen on " + parts_.settings.address + ":" + std::to_string(parts_.settings.port) +
                      ": " + ec.message(),
                  {}, "choose another port with --listen");
    port_ = acceptor_.local_endpoint().port();
  }

  void accept() {
    acceptor_.async_accept(asio::make_strand(io_), [this](const io_error& ec, tcp::socket socket) {
      if (ec == asio::error::operation_aborted) return;
      if (!ec) {
        admit_connection(std::move(socket));
        return accept();
      }
      // No descriptors are left, for instance: not a reason to use a whole processor.
      rest_.expires_after(std::chrono::milliseconds(50));
      rest_.async_wait([this](const io_error& stopped) {
        if (!stopped) accept();
      });
    });
  }

  void admit_connection(tcp::socket socket) {
    ++parts_.counts.connections;
    io_error failed;
    const auto from = socket.remote_endpoint(failed);
    if (failed) return;  // it has ended already
    auto place = parts_.addresses.admit(counted(from.address()));
    if (!place || parts_.counts.open_connections >= static_cast<std::int64_t>(parts_.settings.connections)) {
      ++parts_.counts.connections_refused;
      return;  // closes it
    }
    const bool v6 = from.protocol() == tcp::v6();
    const int taken = socket.release(failed);
    if (!failed) start_connection(io_, context_ ? &*context_ : nullptr, taken, v6, std::move(place), parts_);
  }

  /// What counts as one address: of IPv6, the network of 64 bits that a subscriber has.
  static std::string counted(const asio::ip::address& from) {
    if (from.is_v4()) return from.to_string();
    const auto whole = from.to_v6();
    if (whole.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, whole).to_string();
    if (whole.is_loopback()) return whole.to_string();
    auto bytes = whole.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
    return asio::ip::address_v6(bytes).to_string();
  }

  // What handlers keep of connections must end before the reactor: `io_` is destroyed last.
  connection_parts parts_;
  std::optional<asio::ssl::context> context_;
  asio::io_context io_;
  tcp::acceptor acceptor_;
  asio::steady_timer rest_{io_};
  std::uint16_t port_ = 0;
  std::vector<std::jthread> threads_;
};

http_server::http_server(http_settings settings, http_gate admit, http_handler handle, metrics& counts)
    : impl_(std::make_unique<impl>(std::move(settings), std::move(admit), std::move(handle), counts)) {}
http_server::~http_server() = default;

std::uint16_t http_server::port() const {
  return impl_->port();
}

bool http_server::is_loopback(const std::string& address) {
  io_error ec;
  const auto parsed = asio::ip::make_address(address, ec);
  return !ec && parsed.is_loopback();
}

}  // namespace kevo::serve
