#include "src/base/json/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <boost/json.hpp>

namespace kevo {

void append_number(std::string& text, double x) {
  if (x == 0 && std::signbit(x)) {
    text += "-0.0";  // "-0" would be read as an integer, which has no such sign
    return;
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr;
  text.append(digits.data(), end);
}

void append_exact_number(std::string& text, double x) {
  if (std::isfinite(x)) return append_number(text, x);
  text += std::isnan(x) ? "\"nan\"" : x > 0 ? "\"inf\"" : "\"-inf\"";
}

// After a value, which ends with none of these, comes a comma.
void json_text::separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

void json_text::open(char bracket) {
  separate();
  text_ += bracket;
}

void json_text::quote(std::string_view x) {
  const bool plain = std::none_of(x.begin(), x.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7F;
  });
  if (!plain) {
    text_ += boost::json::serialize(boost::json::string_view(x.data(), x.size()));
    return;
  }
  text_ += '"';
  text_ += x;
  text_ += '"';
}

void json_text::key(std::string_view name) {
  value(name);
  text_ += ':';
}

void json_text::null() {
  separate();
  text_ += "null";
}
void json_text::value(bool x) {
  separate();
  text_ += x ? "true" : "false";
}
void json_text::value(double x) {
  separate();
  append_number(text_, x);
}
void json_text::value(std::int64_t x) {
  separate();
  text_ += std::to_string(x);
}
void json_text::value(std::string_view x) {
  separate();
  quote(x);
}
void json_text::exact_number(double x) {
  separate();
  append_exact_number(text_, x);
}

}  // namespace kevo
