#include "src/base/text/format.hpp"

#include <limits>
#include <string>

#include <doctest/doctest.h>

namespace format = kevo::format;

TEST_CASE("a score keeps the digits by which candidates differ") {
  CHECK(format::score(1001.7) == "1001.7");
  CHECK(format::score(8) == "8");
  CHECK(format::score(1e-9) == "1e-09");
  CHECK(format::score(std::numeric_limits<double>::infinity()) == "-");
}

TEST_CASE("a figure is a speedup where there is one, else a score") {
  CHECK(format::figure(13.62, 13.62, false) == "13.62x");
  CHECK(format::figure(2.5, 7, true) == "2.500×");
  CHECK(format::figure(0, 1001.7, true) == "score 1001.7");
  CHECK(format::figure(0, 0, false) == "score 0");
  CHECK(format::figure(0, -2.5, false) == "score -2.5");
  CHECK(format::figure(0, std::numeric_limits<double>::quiet_NaN(), false) == "score -");
  CHECK(format::bare_figure(0, true, false) == "-");
  CHECK(format::bare_figure(13.62, true, false) == "13.62x");
  CHECK(format::bare_figure(1001.7, false, false) == "1001.7");
  CHECK(format::bare_figure(0, false, false) == "0");
}

TEST_CASE("an interval that allows no conclusion is said to be so") {
  CHECK(format::caution(16.8, 25.3).empty());
  CHECK(format::caution(1.5, 1.5).empty());
  CHECK(format::caution(0.14, 27) == "the interval contains 1: neither faster nor slower is shown");
  CHECK(format::caution(0.98, 1.02) == "the interval contains 1: neither faster nor slower is shown");
  CHECK(format::caution(5, 27) == "the interval is wide: its ends differ by a factor of 5.4");
  CHECK(format::caution(0.1, 0.3) == "the interval is wide: its ends differ by a factor of 3");
  CHECK(format::caution(std::numeric_limits<double>::quiet_NaN(), 2).empty());
}

TEST_CASE("text of unknown origin is printable: lines and tabs stay, nothing is obeyed, nothing hides") {
  CHECK(format::printable("a\tb\nc") == "a\tb\nc");
  CHECK(format::printable("gr\xc3\xbc\xc3\x9f \xe2\x82\xac") == "gr\xc3\xbc\xc3\x9f \xe2\x82\xac");
  CHECK(format::printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(format::printable("bell\a del\x7f nul" + std::string(1, '\0')) == "bell\\x07 del\\x7f nul\\x00");
  CHECK(format::printable("\xc2\x9b"
                          "2J") == "\\x9b2J");  // a C1 control in UTF-8
  CHECK(format::printable("\x9b"
                          "2J") == "\\x9b2J");                    // and as a bare byte
  CHECK(format::printable("\xe2\x80\xaetxt") == "\\u{202e}txt");  // right to left from here
  CHECK(format::printable("one\r\ntwo") == "one\ntwo");
  CHECK(format::printable("bad\rgood") == "bad\\rgood");
  CHECK(format::printable("\xef\xbf\xbd") == "\xef\xbf\xbd");
}
