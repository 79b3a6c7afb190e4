// timed
// What a server reads and writes of HTTP beside the usual: bodies in chunks, several requests at once,
// requests that come byte by byte, HEAD, Expect, ends of connections, and messages that two readers could
// read in two ways.

#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "tests/serve/played_service.hpp"

namespace {

const std::string post_line = "POST /v1/evaluations?wait=20 HTTP/1.1\r\nHost: a\r\n";

std::string chunk(const std::string& text, const std::string& after_size = {}) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx", text.size());
  return size + after_size + "\r\n" + text + "\r\n";
}

std::string with_length(const std::string& body, const std::string& more = {}) {
  return post_line + more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// All that comes until the server closes, or for so long.
std::string everything(probe::connection& from, int milliseconds = 5000) {
  std::string all;
  for (;;) {
    const std::string more = from.some(milliseconds);
    if (more.empty()) return all;
    all += more;
  }
}

std::string score_in(const probe::reply& of) {
  const auto at = of.body.find("\"score\":");
  return at == std::string::npos ? of.body : of.body.substr(at + 8, of.body.find(',', at) - at - 8);
}

}  // namespace

TEST_CASE("a body in chunks is read whole, wherever it is cut, with extensions and trailers") {
  const played::service it;
  const std::string body = played::submission("chunked");
  const std::string in_two = chunk(body.substr(0, 20), ";name=\"a b\"") + chunk(body.substr(20));
  const std::string text =
      post_line + "Transfer-Encoding: chunked\r\n\r\n" + in_two + "0\r\nX-Trailer: yes\r\n\r\n";
  for (std::size_t cut = 1; cut < text.size(); cut += 3) {
    probe::connection one(it.port());
    one.send(text.substr(0, cut));
    if (cut % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    one.send(text.substr(cut));
    const auto said = one.receive();
    CHECK_MESSAGE(said.status == 200, cut);
    CHECK(score_in(said) == "7");
    CHECK(one.ask("GET", "/healthz").status == 200);  // nothing of the body is left
  }
  CHECK(it.it->evaluations == 1);
}

TEST_CASE("a request that comes byte by byte is read like any other") {
  const played::service it;
  const std::string text = with_length(played::submission("slowly"));
  probe::connection one(it.port());
  for (const char byte : text) one.send(std::string(1, byte));
  CHECK(score_in(one.receive()) == "6");
}

TEST_CASE("requests that come at once are answered in their order") {
  const played::service it;
  std::string all;
  for (int i = 1; i <= 20; ++i)
    all += with_length(played::submission(std::string(static_cast<std::size_t>(i), 'x')));
  probe::connection one(it.port());
  one.send(all + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  for (int i = 1; i <= 20; ++i) CHECK(score_in(one.receive()) == std::to_string(i));
  CHECK(one.receive().body.find("\"status\":\"ok\"") != std::string::npos);
}

TEST_CASE("what two readers could read in two ways is refused, and nothing behind it is read") {
  const played::service it;
  const std::string body = played::submission("hidden");
  const std::string behind = with_length(played::submission("smuggled"));
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  for (const std::string& head : {
           length + "Transfer-Encoding: chunked\r\n",
           "Transfer-Encoding: chunked\r\n" + length,
           length + "Content-Length: 3\r\n",
           std::string("Content-Length: 3, 4\r\n"),
           std::string("Content-Length: +3\r\n"),
           std::string("Content-Length: 0x3\r\n"),
           std::string("Content-Length: 18446744073709551617\r\n"),
           std::string("Content-Length : 3\r\n"),
           std::string("X Y: 3\r\n"),
           std::string("X: a\rb\r\n"),
           std::string("X: a\nTransfer-Encoding: chunked\r\n"),
       }) {
    probe::connection one(it.port());
    one.send(post_line + head + "\r\n" + body + behind);
    const auto said = one.receive(5000);
    CHECK_MESSAGE(said.status == 400, head);
    CHECK_MESSAGE(everything(one).empty(), head);
    CHECK_MESSAGE(one.ended(), head);
  }
  for (const char* chunks : {"zz\r\n", "-1\r\n", "ffffffffffffffffff\r\n", "3\r\nabcX\r\n0\r\n\r\n"}) {
    probe::connection one(it.port());
    one.send(post_line + "Transfer-Encoding: chunked\r\n\r\n" + chunks + behind);
    const int status = one.receive(5000).status;
    CHECK_MESSAGE((status == 400 || status == 413), chunks);
    CHECK_MESSAGE(everything(one).empty(), chunks);
  }
  CHECK(it.it->evaluations == 0);
}

TEST_CASE("an answer to HEAD has no body, so that the next answer is not taken for one") {
  const played::service it;
  probe::connection one(it.port());
  one.send("HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  std::string text;
  while (text.find("\"status\":\"ok\"") == std::string::npos) {
    const std::string more = one.some(5000);
    REQUIRE(!more.empty());
    text += more;
  }
  CHECK(text.starts_with("HTTP/1.1 405 "));
  CHECK(text.find("Content-Length: ") < text.find("\r\n\r\n"));
  CHECK(text.substr(text.find("\r\n\r\n") + 4).starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("a client that waits for 100 Continue gets it once, and one that does not wait gets none") {
  const played::service it;
  const std::string body = played::submission("later");
  const std::string head =
      post_line + "Expect: 100-continue\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  probe::connection waits(it.port());
  waits.send(head);
  CHECK(waits.some(5000) == "HTTP/1.1 100 Continue\r\n\r\n");
  waits.send(body);
  CHECK(score_in(waits.receive()) == "5");

  probe::connection does_not(it.port());
  does_not.send(head + body);
  auto said = does_not.receive();
  if (said.status == 100) said = does_not.receive();  // the header may have been read before the body came
  CHECK(said.status == 200);
  CHECK(does_not.ask("GET", "/healthz").status == 200);
}

TEST_CASE("a connection goes on or ends as the version and the client say") {
  const played::service it;
  const auto ends_after = [&](const std::string& request) {
    probe::connection one(it.port());
    one.send(request);
    const std::string said = everything(one, 300);
    CHECK_MESSAGE(said.starts_with("HTTP/1.1 200 OK\r\n"), request);
    CHECK((said.find("\r\nConnection: close\r\n") != std::string::npos) == one.ended());
    return one.ended();
  };
  CHECK(!ends_after("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"));
  CHECK(ends_after("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  CHECK(ends_after("GET /healthz HTTP/1.1\r\nHost: a\r\nconnection: Keep-Alive, CLOSE\r\n\r\n"));
  CHECK(ends_after("GET /healthz HTTP/1.0\r\n\r\n"));

  probe::connection leaves(it.port());  // in the middle of a request
  leaves.send(post_line + "Content-Length: 100\r\n\r\n{");
  {
    const probe::connection other(it.port());
    other.send(post_line);
  }
  CHECK(leaves.send("\"task\""));
  CHECK(it.ask("GET", "/healthz").status == 200);
}
