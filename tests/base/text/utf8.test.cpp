#include "src/base/text/utf8.hpp"

#include <string>

#include <doctest/doctest.h>

TEST_CASE("what is not UTF-8 is replaced, byte by byte") {
  CHECK(kevo::as_utf8("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  const std::string bad = "\xef\xbf\xbd";
  CHECK(kevo::as_utf8("\xff") == bad);
  CHECK(kevo::as_utf8("\xc0\xaf") == bad + bad);            // overlong
  CHECK(kevo::as_utf8("\xed\xa0\x80") == bad + bad + bad);  // a surrogate
  CHECK(kevo::as_utf8("a\xe2\x82") == "a" + bad + bad);     // cut off
  CHECK(kevo::as_utf8("\xf4\x90\x80\x80").find("\xf4") == std::string::npos);
}
