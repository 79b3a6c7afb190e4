#include "src/llm/url.hpp"

#include <doctest/doctest.h>

#include <kevo/error.hpp>

using namespace kevo;

TEST_CASE("an address is taken apart") {
  const url plain = parse_url("http://localhost:8000/v1");
  CHECK(!plain.tls);
  CHECK(plain.host == "localhost");
  CHECK(plain.port == "8000");
  CHECK(plain.path == "/v1");
  CHECK(plain.user.empty());
  const url sealed = parse_url("HTTPS://my_host.example?version=2#part");
  CHECK(sealed.tls);
  CHECK(sealed.host == "my_host.example");
  CHECK(sealed.port == "443");
  CHECK(sealed.path == "?version=2");
}

TEST_CASE("an IPv6 address loses its brackets, and a password its percent signs") {
  const url made = parse_url("http://user:p%40ss@[::1]:3128");
  CHECK(made.host == "::1");
  CHECK(made.port == "3128");
  CHECK(made.user == "user:p@ss");
  CHECK(made.path.empty());
}

TEST_CASE("what is no address of a server is refused with the reason") {
  for (const char* text :
       {"ftp://x", "localhost:8000", "http://", "http:///v1", "http://x:y/v1", "http://x:0/v1",
        "http://x:70000/v1", "http://a b/v1", "http://x/v1\nHost: y", "http://[::1/v1", ""}) {
    INFO(text);
    try {
      parse_url(text);
      FAIL_CHECK("was taken");
    } catch (const error& refused) {
      CHECK(refused.code() == error_code::input);
      CHECK(refused.message().find(text) != std::string::npos);
      CHECK(refused.hint().find("http://host:port/path") != std::string::npos);
    }
  }
}
