#include "src/llm/base64.hpp"

#include <string>

#include <doctest/doctest.h>

TEST_CASE("base64 gives the test vectors of RFC 4648") {
  CHECK(kevo::base64("").empty());
  CHECK(kevo::base64("f") == "Zg==");
  CHECK(kevo::base64("fo") == "Zm8=");
  CHECK(kevo::base64("foo") == "Zm9v");
  CHECK(kevo::base64("foob") == "Zm9vYg==");
  CHECK(kevo::base64("fooba") == "Zm9vYmE=");
  CHECK(kevo::base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("base64 takes every byte, and long text on one line") {
  CHECK(kevo::base64(std::string("\x00\xff\xfe\xfb", 4)) == "AP/++w==");
  CHECK(kevo::base64("Aladdin:open sesame") == "QWxhZGRpbjpvcGVuIHNlc2FtZQ==");  // RFC 7617
  const std::string text = kevo::base64(std::string((3 << 20) + 1, 'a'));
  CHECK(text.size() == (1 << 22) + 4);
  CHECK(text.substr(0, 4) == "YWFh");
  CHECK(text.substr(1 << 22) == "YQ==");
  CHECK(text.find('\n') == std::string::npos);
}
