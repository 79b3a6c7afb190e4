#pragma once
// A scripted server that speaks enough of the OpenAI protocol: real sockets, TLS too, and every way to fail.

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "tests/support/shell.hpp"

namespace scripted {

/// What the server does with one request.
struct answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string headers;  ///< further lines, each ended by \r\n
  std::string body;
  std::chrono::milliseconds delay{0};
  std::size_t cut = std::string::npos;  ///< close after so many bytes of the body
  bool hang = false;                    ///< never answer
  bool stay = false;                    ///< with a cut: keep the connection open, send nothing more
  int tokens_in = 0;                    ///< what the bytes that are sent say was charged
  int tokens_out = 0;
};

struct request {
  std::string head;  ///< request line and header lines
  std::string body;
  std::size_t number = 0;  ///< from 0
};

inline std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char buffer[8] = {c, 0};
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
    out += buffer;
  }
  return out + '"';
}

/// A whole answer with this text.
inline answer says(const std::string& text, int tokens_in = 100, int tokens_out = 50,
                   const std::string& finish = "stop") {
  return {.body =
              "{\"id\":\"x\",\"model\":\"scripted-1\",\"choices\":[{\"index\":0,\"message\":{\"role\":"
              "\"assistant\",\"content\":" +
              json_text(text) + "},\"finish_reason\":\"" + finish + "\"}],\"usage\":{\"prompt_tokens\":" +
              std::to_string(tokens_in) + ",\"completion_tokens\":" + std::to_string(tokens_out) + "}}",
          .tokens_in = tokens_in,
          .tokens_out = tokens_out};
}

/// A whole answer with several replies, as to a request with `n`.
inline answer says_each(const std::vector<std::string>& texts, int tokens_in = 100, int tokens_out = 50) {
  std::string choices;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    choices += (i == 0 ? "" : ",") + std::string("{\"index\":") + std::to_string(i) +
               ",\"message\":{\"role\":\"assistant\",\"content\":" + json_text(texts[i]) +
               "},\"finish_reason\":\"stop\"}";
  }
  return {.body = "{\"model\":\"scripted-1\",\"choices\":[" + choices + "],\"usage\":{\"prompt_tokens\":" +
                  std::to_string(tokens_in) + ",\"completion_tokens\":" + std::to_string(tokens_out) + "}}",
          .tokens_in = tokens_in,
          .tokens_out = tokens_out};
}

/// The number of replies that a request asks for.
inline std::size_t replies_wanted(const std::string& body) {
  const auto at = body.find("\"n\":");
  return at == std::string::npos ? 1 : static_cast<std::size_t>(std::stoi(body.substr(at + 4)));
}

/// The model wants tools called: name and arguments of each.
inline answer calls(const std::vector<std::pair<std::string, std::string>>& tools, int tokens_in = 100,
                    int tokens_out = 50) {
  std::string list;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    list += (i == 0 ? "" : ",") + std::string("{\"id\":\"call_") + std::to_string(i) +
            "\",\"type\":\"function\",\"function\":{\"name\":" + json_text(tools[i].first) +
            ",\"arguments\":" + json_text(tools[i].second) + "}}";
  }
  return {.body =
              "{\"model\":\"scripted-1\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":null,"
              "\"tool_calls\":[" +
              list + "]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":" +
              std::to_string(tokens_in) + ",\"completion_tokens\":" + std::to_string(tokens_out) + "}}",
          .tokens_in = tokens_in,
          .tokens_out = tokens_out};
}

/// The same as `says`, as server-sent events of a few bytes of text each.
inline answer streams(const std::string& text, int tokens_in = 100, int tokens_out = 50) {
  std::string body = ": a comment\r\n\r\n";
  for (std::size_t at = 0; at < text.size(); at += 7) {
    body += "data: {\"model\":\"scripted-1\",\"choices\":[{\"delta\":{\"content\":" +
            json_text(text.substr(at, 7)) + "},\"finish_reason\":null}]}\n\n";
  }
  body +=
      "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: "
      "{\"choices\":[],\"usage\":{\"prompt_tokens\":" +
      std::to_string(tokens_in) + ",\"completion_tokens\":" + std::to_string(tokens_out) +
      "}}\n\ndata: [DONE]\n\n";
  return {
      .content_type = "text/event-stream", .body = body, .tokens_in = tokens_in, .tokens_out = tokens_out};
}

/// A certificate for "localhost" and 127.0.0.1 that signs itself, and its key, as files.
inline void write_certificate(const std::string& certificate, const std::string& key) {
  EVP_PKEY* pair = EVP_EC_gen("P-256");
  X509* made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -60);
  X509_gmtime_adj(X509_getm_notAfter(made), 86400);
  X509_set_pubkey(made, pair);
  X509_NAME* name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"),
                             -1, -1, 0);
  X509_set_issuer_name(made, name);
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, made, made, nullptr, nullptr, 0);
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, "DNS:localhost");
  X509_add_ext(made, names, -1);
  X509_EXTENSION_free(names);
  X509_sign(made, pair, EVP_sha256());
  std::FILE* file = std::fopen(certificate.c_str(), "wb");
  PEM_write_X509(file, made);
  std::fclose(file);
  file = std::fopen(key.c_str(), "wb");
  PEM_write_PrivateKey(file, pair, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_free(made);
  EVP_PKEY_free(pair);
}

/// Listens on a port of its own; one thread a connection, one request a connection.
class server {
 public:
  using rule = std::function<answer(const request&)>;

  explicit server(rule decide, bool tls = false) : decide_(std::move(decide)) {
    std::signal(SIGPIPE, SIG_IGN);
    if (tls) {
      write_certificate(ca_file(), (folder_ / "key.pem").string());
      context_ = SSL_CTX_new(TLS_server_method());
      SSL_CTX_use_certificate_file(context_, ca_file().c_str(), SSL_FILETYPE_PEM);
      SSL_CTX_use_PrivateKey_file(context_, (folder_ / "key.pem").c_str(), SSL_FILETYPE_PEM);
    }
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 256) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("the scripted server cannot listen");
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this] { accept_all(); });
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() {
    closing_ = true;
    acceptor_.join();
    ::close(listener_);
    connections_.clear();  // joins
    if (context_ != nullptr) SSL_CTX_free(context_);
  }

  int port() const { return port_; }
  std::string url() const {
    return (context_ != nullptr ? "https://localhost:" : "http://127.0.0.1:") + std::to_string(port_) + "/v1";
  }
  std::string ca_file() const { return (folder_ / "cert.pem").string(); }
  std::size_t requests() const { return count_; }
  std::size_t most_at_once() const { return most_; }
  /// What clients were told that they are charged, over all answers that they have read to the end.
  long long tokens_in() const { return told_in_; }
  long long tokens_out() const { return told_out_; }
  std::vector<request> seen() const {
    const std::scoped_lock lock(guard_);
    return seen_;
  }
  void remember(bool on) { remember_ = on; }
  /// Whether the rule also answers the request by which a run asks each model once before it begins. Else the
  /// server answers it as a model that works, and does not count it.
  void see_checks(bool on) { sees_checks_ = on; }

 private:
  struct line {
    int descriptor = -1;
    SSL* tls = nullptr;
    long read(char* to, std::size_t size) const {
      return tls != nullptr ? SSL_read(tls, to, static_cast<int>(size)) : ::recv(descriptor, to, size, 0);
    }
    bool write(const std::string& text) const {
      std::size_t at = 0;
      while (at < text.size()) {
        const long n = tls != nullptr ? SSL_write(tls, text.data() + at, static_cast<int>(text.size() - at))
                                      : ::send(descriptor, text.data() + at, text.size() - at, MSG_NOSIGNAL);
        if (n <= 0) return false;
        at += static_cast<std::size_t>(n);
      }
      return true;
    }
  };
  struct connection {
    std::atomic<bool> done = false;
    std::jthread thread;
  };

  void accept_all() {
    while (!closing_) {
      pollfd ready{.fd = listener_, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor < 0) continue;
      connections_.remove_if([](const connection& one) { return one.done.load(); });
      connection& one = connections_.emplace_back();
      one.thread = std::jthread([this, descriptor, &one] {
        serve(descriptor);
        one.done = true;
      });
    }
  }

  void serve(int descriptor) {
    timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    line wire{descriptor};
    if (context_ != nullptr) {
      wire.tls = SSL_new(context_);
      SSL_set_fd(wire.tls, descriptor);
    }
    answer given;
    if (wire.tls == nullptr || SSL_accept(wire.tls) == 1) given = talk(wire);
    if (wire.tls != nullptr) {
      SSL_shutdown(wire.tls);
      SSL_free(wire.tls);
    }
    ::shutdown(descriptor, SHUT_WR);
    // A client that closes with bytes unread resets the connection.
    if (wire.tls == nullptr && given.tokens_in + given.tokens_out > 0 &&
        gone(descriptor) == leave::read_all) {
      told_in_ += given.tokens_in;
      told_out_ += given.tokens_out;
    }
    ::close(descriptor);
  }

  enum class leave { read_all, broke, stays };
  /// How the client left, once it has.
  leave gone(int descriptor) const {
    while (!closing_) {
      pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      char rest[256];
      const long n = ::recv(descriptor, rest, sizeof rest, 0);
      if (n > 0) continue;
      return n == 0 ? leave::read_all : leave::broke;
    }
    return leave::stays;
  }

  answer talk(const line& wire) {
    request asked;
    std::string text;
    std::size_t end = std::string::npos;
    std::size_t length = 0;
    char buffer[65536];
    while (end == std::string::npos || text.size() < end + 4 + length) {
      const long n = wire.read(buffer, sizeof buffer);
      if (n <= 0) return {};
      text.append(buffer, static_cast<std::size_t>(n));
      if (end == std::string::npos && (end = text.find("\r\n\r\n")) != std::string::npos) {
        const auto field = text.find("Content-Length: ");
        if (field < end) length = std::stoul(text.substr(field + 16));
      }
    }
    asked.head = text.substr(0, end);
    asked.body = text.substr(end + 4);
    if (!sees_checks_ && asked.body.find("\"kevo_ready\"") != std::string::npos) {
      const answer ready = calls({{"kevo_ready", R"({"word":"kevo"})"}}, 0, 0);
      respond(wire, ready);
      return ready;
    }
    asked.number = count_++;
    if (remember_) {
      const std::scoped_lock lock(guard_);
      seen_.push_back(asked);
    }
    const std::size_t now = ++inside_;
    std::size_t most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
    answer given = decide_(asked);
    respond(wire, given);
    --inside_;
    return given;
  }

  void respond(const line& wire, const answer& what) {
    pause(what.delay);
    if (what.hang) {
      gone(wire.descriptor);
      return;
    }
    std::string head =
        "HTTP/1.1 " + std::to_string(what.status) + " X\r\nContent-Type: " + what.content_type +
        "\r\nContent-Length: " + std::to_string(what.body.size()) + "\r\n" + what.headers + "\r\n";
    if (wire.write(head)) wire.write(what.body.substr(0, what.cut));
    if (what.stay) gone(wire.descriptor);
  }

  void pause(std::chrono::milliseconds time) const {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!closing_ && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(
          std::chrono::milliseconds(5), end - std::chrono::steady_clock::now()));
  }

  rule decide_;
  shell::scratch folder_;
  SSL_CTX* context_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> remember_ = true;
  std::atomic<bool> sees_checks_ = false;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::size_t> inside_ = 0;
  std::atomic<std::size_t> most_ = 0;
  std::atomic<long long> told_in_ = 0;
  std::atomic<long long> told_out_ = 0;
  mutable std::mutex guard_;
  std::vector<request> seen_;
  std::list<connection> connections_;
  std::jthread acceptor_;
};

/// A proxy that tunnels whatever it is asked to CONNECT to, always to one port of this machine.
class proxy {
 public:
  /// `refusal`: the status line to answer instead, "407 Authenticate" for instance.
  explicit proxy(int target, std::string refusal = {}) : target_(target), refusal_(std::move(refusal)) {
    std::signal(SIGPIPE, SIG_IGN);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("the proxy cannot listen");
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this] { accept_all(); });
  }
  proxy(const proxy&) = delete;
  proxy& operator=(const proxy&) = delete;
  ~proxy() {
    closing_ = true;
    acceptor_.join();
    ::close(listener_);
  }
  int port() const { return port_; }
  /// The heads of the requests that it was sent.
  std::vector<std::string> asked() const {
    const std::scoped_lock lock(guard_);
    return asked_;
  }

 private:
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
  }
  void accept_all() {
    while (!closing_) {
      pollfd ready{.fd = listener_, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      serve(client);  // one after the other
      ::close(client);
    }
  }
  void serve(int client) {
    std::string head;
    char c = 0;
    while (head.find("\r\n\r\n") == std::string::npos && ::recv(client, &c, 1, 0) == 1) head += c;
    {
      const std::scoped_lock lock(guard_);
      asked_.push_back(head);
    }
    const std::string status = refusal_.empty() ? "200 Connection established" : refusal_;
    const std::string said = "HTTP/1.1 " + status + "\r\n\r\n";
    if (::send(client, said.data(), said.size(), MSG_NOSIGNAL) <= 0 || !refusal_.empty()) return;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(target_);
    if (::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) pump(client, server);
    ::close(server);
  }
  void pump(int client, int server) const {
    char buffer[16384];
    while (!closing_) {
      pollfd ready[2] = {{.fd = client, .events = POLLIN, .revents = 0},
                         {.fd = server, .events = POLLIN, .revents = 0}};
      if (::poll(ready, 2, 20) <= 0) continue;
      for (int i = 0; i < 2; ++i) {
        if (ready[i].revents == 0) continue;
        const long n = ::recv(ready[i].fd, buffer, sizeof buffer, 0);
        if (n <= 0 || ::send(ready[1 - i].fd, buffer, static_cast<std::size_t>(n), MSG_NOSIGNAL) != n) return;
      }
    }
  }

  int target_;
  std::string refusal_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> closing_ = false;
  mutable std::mutex guard_;
  std::vector<std::string> asked_;
  std::jthread acceptor_;
};

}  // namespace scripted
