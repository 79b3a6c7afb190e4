// What the client of HTTP reads and writes beside the usual: answers in chunks, answers without a length,
// answers before the answer, and headers that would end early.

#include <arpa/inet.h>
#include <atomic>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/llm/http.hpp"

namespace {

/// Reads one request and sends these parts, a moment apart, as they are.
class raw_server {
 public:
  explicit raw_server(std::vector<std::string> parts) : parts_(std::move(parts)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { serve(); });
  }
  raw_server(const raw_server&) = delete;
  raw_server& operator=(const raw_server&) = delete;
  ~raw_server() {
    thread_.join();
    ::close(listener_);
  }
  int port() const { return port_; }
  /// The request; once it has been answered.
  std::string asked() {
    if (thread_.joinable()) thread_.join();
    thread_ = std::jthread([] {});
    return asked_;
  }

 private:
  void serve() {
    pollfd ready{.fd = listener_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 2000) <= 0) return;  // nobody came
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    char byte = 0;
    while (asked_.find("\r\n\r\nquestion") == std::string::npos && ::recv(client, &byte, 1, 0) == 1)
      asked_ += byte;
    for (const auto& part : parts_) {
      ::send(client, part.data(), part.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::close(client);
  }

  std::vector<std::string> parts_;
  int listener_ = -1;
  int port_ = 0;
  std::string asked_;
  std::jthread thread_;
};

kevo::http_request question(int port) {
  kevo::http_request made;
  made.to = kevo::parse_url("http://127.0.0.1:" + std::to_string(port) + "/v1/x?y=1");
  made.body = "question";
  made.limits = {.connect_s = 5, .first_s = 5, .total_s = 10, .body_bytes = 1000};
  return made;
}

kevo::http_response answer_of(const std::vector<std::string>& parts) {
  const raw_server server(parts);
  return kevo::post(question(server.port()));
}

}  // namespace

TEST_CASE("a request is written as HTTP says") {
  raw_server server({"HTTP/1.1 204 No Content\r\n\r\n"});
  auto ask = question(server.port());
  ask.headers = {{"Content-Type", "text/plain"}, {"X-Empty", ""}};
  const auto said = kevo::post(ask);
  CHECK(said.failure == kevo::http_failure::none);
  CHECK(said.status == 204);
  CHECK(server.asked() == "POST /v1/x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                              "\r\nUser-Agent: kevo\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                              "X-Empty: \r\nContent-Length: 8\r\n\r\nquestion");
}

TEST_CASE("an answer is read whole, in chunks or until the end of the connection, wherever it is cut") {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nX: "
      "y\r\n\r\n";
  const std::string to_the_end = "HTTP/1.0 200 OK\r\n\r\nhello world";
  for (const auto& text : {chunked, to_the_end})
    for (std::size_t cut = 1; cut < text.size(); cut += 4) {
      const auto said = answer_of({text.substr(0, cut), text.substr(cut)});
      CHECK_MESSAGE(said.failure == kevo::http_failure::none, cut << ": " << said.detail);
      CHECK_MESSAGE(said.body == "hello world", cut);
    }
}

TEST_CASE("what comes before the answer is passed over") {
  const auto said = answer_of({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
                               "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"});
  CHECK(said.failure == kevo::http_failure::none);
  CHECK(said.status == 200);
  CHECK(said.body == "ok");
}

TEST_CASE("an answer that is cut, too large or no HTTP is told apart, with what had come") {
  const auto cut = answer_of({"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"});
  CHECK(cut.failure == kevo::http_failure::disconnected);
  CHECK(cut.body == "half");
  CHECK(cut.sent);
  const auto cut_chunk =
      answer_of({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo"});
  CHECK(cut_chunk.failure == kevo::http_failure::disconnected);
  CHECK(cut_chunk.body == "hellowo");
  const auto announced = answer_of({"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"});
  CHECK(announced.failure == kevo::http_failure::too_large);
  const auto grown = answer_of({"HTTP/1.1 200 OK\r\n\r\n", std::string(600, 'x'), std::string(600, 'x')});
  CHECK(grown.failure == kevo::http_failure::too_large);
  for (const char* text : {"", "SSH-2.0-x\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"})
    CHECK_MESSAGE(answer_of({text}).failure == kevo::http_failure::disconnected, text);
}

TEST_CASE("a header or a host with a line break is refused before anything is sent") {
  for (const char* token : {"a\r\nX-Role: admin", "a\nb", "a\rb", "a\x7f"}) {
    auto ask = question(1);
    ask.headers = {{"Authorization", std::string("Bearer ") + token}};
    CHECK_THROWS_WITH_AS(kevo::post(ask), doctest::Contains("line break"), kevo::error);
  }
  auto ask = question(1);
  ask.to.host = "a\r\nb";
  CHECK_THROWS_AS(kevo::post(ask), kevo::error);
}
