#pragma once
// A client of HTTP that can also misbehave, for tests of servers.

#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace probe {

struct reply {
  int status = 0;  ///< 0: no answer
  std::string head;
  std::string body;
};

/// A connection to a port of this machine.
class connection {
 public:
  explicit connection(int port) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    const int one = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { ::close(socket_); }

  /// False if the other side has closed.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const auto sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// What arrives within so many milliseconds; empty also at the end.
  std::string some(int milliseconds) {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, milliseconds) <= 0) return {};
    char buffer[16384];
    const auto got = ::recv(socket_, buffer, sizeof buffer, 0);
    if (got <= 0) ended_ = true;
    return got <= 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(got));
  }
  bool ended() const { return ended_; }
  bool is_open() const { return open_; }

  /// One answer, by its Content-Length.
  reply receive(int milliseconds = 20000) {
    reply made;
    std::size_t end = std::string::npos;
    while ((end = text_.find("\r\n\r\n")) == std::string::npos) {
      const std::string more = some(milliseconds);
      if (more.empty()) return made;
      text_ += more;
    }
    made.head = text_.substr(0, end);
    made.status = std::atoi(made.head.c_str() + made.head.find(' '));
    std::size_t length = 0;
    if (const auto at = made.head.find("Content-Length: "); at != std::string::npos)
      length = static_cast<std::size_t>(std::atoll(made.head.c_str() + at + 16));
    while (text_.size() < end + 4 + length) {
      const std::string more = some(milliseconds);
      if (more.empty()) break;
      text_ += more;
    }
    made.body = text_.substr(end + 4, length);
    text_.erase(0, std::min(text_.size(), end + 4 + length));
    return made;
  }

  reply ask(const std::string& method, const std::string& target, const std::string& body = {},
            const std::string& token = {}) {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: test\r\n";
    if (!token.empty()) text += "Authorization: Bearer " + token + "\r\n";
    if (!body.empty() || method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    send(text + "\r\n" + body);
    return receive();
  }

 private:
  int socket_ = -1;
  bool open_ = false;
  bool ended_ = false;
  std::string text_;
};

inline reply ask(int port, const std::string& method, const std::string& target, const std::string& body = {},
                 const std::string& token = {}) {
  connection one(port);
  return one.ask(method, target, body, token);
}

}  // namespace probe
