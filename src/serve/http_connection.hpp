#pragma once
// One connection of an HTTP server: reads a request within the limits, hands it on, writes the answer, and so
// on until the client closes it or a limit is passed.

#include "src/serve/address_counts.hpp"
#include "src/serve/http_server.hpp"

namespace boost::asio {
class io_context;
namespace ssl {
class context;
}
}  // namespace boost::asio

namespace kevo::serve {

/// What all connections of a server share.
struct connection_parts {
  http_settings settings;
  http_gate admit;
  http_handler handle;
  metrics& counts;
  address_counts addresses{settings.connections_of_address};
};

/// Serves a connected socket, which it takes over, on the threads that run `on`, until the connection ends.
/// `tls` may be null: no TLS. `v6`: whether the socket is one of IPv6. `place`: of its address; given back at
/// its end. All references must outlive `on`'s run.
void start_connection(boost::asio::io_context& on, boost::asio::ssl::context* tls, int socket, bool v6,
                      address_counts::place place, connection_parts& parts);

}  // namespace kevo::serve
