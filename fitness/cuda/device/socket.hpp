#pragma once
// Whole messages, with descriptors, over a local stream socket.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "src/base/process/descriptor.hpp"

namespace kevo::cuda {

struct message {
  std::string bytes;
  std::vector<detail::descriptor> descriptors;  ///< at most 4
};

/// One end of a connection. One thread at a time.
class message_socket {
 public:
  message_socket() = default;
  explicit message_socket(detail::descriptor socket) : socket_(std::move(socket)) {}
  /// False if the other side has gone. @throws kevo::error (environment)
  bool send(const message& m);
  /// False if the other side has gone. @throws kevo::error (environment) for a time-out or a damaged message
  bool receive(message& m, std::chrono::nanoseconds limit);

 private:
  bool wait(short events, std::chrono::steady_clock::time_point deadline);
  detail::descriptor socket_;
};

/// Both ends of a new connection; close-on-exec.
std::pair<detail::descriptor, detail::descriptor> socket_pair();

}  // namespace kevo::cuda
