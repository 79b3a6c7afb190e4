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

TEST_CASE("a text is cut at the boundaries of its characters") {
  for (const std::string character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    const std::string text = "a" + character + character + "z";
    const std::size_t bytes = character.size();
    CHECK(kevo::boundary_before(text, 0) == 0);
    CHECK(kevo::boundary_after(text, 0) == 0);
    for (std::size_t begin = 1; begin <= 1 + bytes; begin += bytes) {
      CAPTURE(begin);
      CHECK(kevo::boundary_before(text, begin) == begin);
      CHECK(kevo::boundary_after(text, begin) == begin);
      for (std::size_t inside = begin + 1; inside < begin + bytes; ++inside) {
        CAPTURE(inside);
        CHECK(kevo::boundary_before(text, inside) == begin);
        CHECK(kevo::boundary_after(text, inside) == begin + bytes);
      }
    }
    const std::size_t last = 1 + 2 * bytes;
    for (const auto at : {last, last + 1}) {
      CHECK(kevo::boundary_before(text, at) == at);
      CHECK(kevo::boundary_after(text, at) == at);
    }
    CHECK(kevo::boundary_before(text, text.size() + 5) == text.size());
    CHECK(kevo::boundary_after(text, text.size() + 5) == text.size());
  }
  CHECK(kevo::boundary_before("", 0) == 0);
  CHECK(kevo::boundary_after("", 3) == 0);
}

TEST_CASE("each byte that belongs to no character is cut like a character") {
  const std::string stray = "\xa9\xa9\xa9\xa9\xa9\xa9";
  const std::string unfinished = "a\xe2\x82";
  for (std::size_t at = 0; at <= stray.size(); ++at) {
    CHECK(kevo::boundary_before(stray, at) == at);
    CHECK(kevo::boundary_after(stray, at) == at);
  }
  CHECK(kevo::boundary_before(unfinished, 2) == 2);
  CHECK(kevo::boundary_after(unfinished, 2) == 2);
}
