#include "src/base/text/utf8.hpp"

#include <cstddef>

namespace kevo {
namespace {

struct range {
  unsigned char low, high;
};

/// Length of the well-formed sequence at the start of `text` (Unicode 15, table 3-7); 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  range second{0x80, 0xbf};
  std::size_t length = 0;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) second.low = 0xa0;
    if (first == 0xed) second.high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) second.low = 0x90;
    if (first == 0xf4) second.high = 0x8f;
  }
  if (length == 0 || text.size() < length) return 0;
  if (at(1) < second.low || at(1) > second.high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (at(i) < 0x80 || at(i) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length > 0) {
      clean += text.substr(0, length);
    } else {
      clean += "\xef\xbf\xbd";
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return clean;
}

}  // namespace kevo
