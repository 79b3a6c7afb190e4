#include "src/base/json/exact_parse.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>

#include <kevo/error.hpp>

namespace kevo {
namespace {

namespace json = boost::json;

double exactly(const std::string& text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc() && end == text.data() + text.size()) return value;
  return std::strtod(text.c_str(), nullptr);  // what is out of range becomes infinity or zero
}

// Builds values from the parser's events; the text of each double is converted with correct rounding.
struct exact_handler {
  static constexpr std::size_t max_object_size = std::size_t(-1) >> 8U;
  static constexpr std::size_t max_array_size = std::size_t(-1) >> 8U;
  static constexpr std::size_t max_key_size = std::size_t(-1) >> 8U;
  static constexpr std::size_t max_string_size = std::size_t(-1) >> 8U;

  json::value_stack stack;
  std::string number;

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_object_end(std::size_t n, json::error_code&) { return stack.push_object(n), true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t n, json::error_code&) { return stack.push_array(n), true; }
  bool on_key_part(json::string_view s, std::size_t, json::error_code&) { return stack.push_chars(s), true; }
  bool on_key(json::string_view s, std::size_t, json::error_code&) { return stack.push_key(s), true; }
  bool on_string_part(json::string_view s, std::size_t, json::error_code&) {
    return stack.push_chars(s), true;
  }
  bool on_string(json::string_view s, std::size_t, json::error_code&) { return stack.push_string(s), true; }
  bool on_number_part(json::string_view s, json::error_code&) {
    return number.append(s.data(), s.size()), true;
  }
  bool on_int64(std::int64_t i, json::string_view, json::error_code&) {
    number.clear();
    return stack.push_int64(i), true;
  }
  bool on_uint64(std::uint64_t u, json::string_view, json::error_code&) {
    number.clear();
    return stack.push_uint64(u), true;
  }
  bool on_double(double, json::string_view s, json::error_code&) {
    number.append(s.data(), s.size());
    stack.push_double(exactly(number));
    number.clear();
    return true;
  }
  bool on_bool(bool b, json::error_code&) { return stack.push_bool(b), true; }
  bool on_null(json::error_code&) { return stack.push_null(), true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

error_place place_of(std::string_view text, std::size_t offset) {
  error_place place;
  place.line = 1;
  place.column = 1;
  for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
    ++place.column;
    if (text[i] == '\n') {
      ++place.line;
      place.column = 1;
    }
  }
  return place;
}

}  // namespace

json::value parse_json_exactly(std::string_view text, bool any_bytes, const json::storage_ptr& storage) {
  json::parse_options options;
  options.allow_invalid_utf8 = any_bytes;
  json::basic_parser<exact_handler> parser{options};
  parser.handler().stack.reset(storage);
  json::error_code failure;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), failure);
  std::size_t rest = used;
  while (!failure && rest < text.size()) {
    if (std::string_view(" \t\r\n").find(text[rest]) == std::string_view::npos)
      failure = json::error::extra_data;
    ++rest;
  }
  if (failure) {
    const auto place = place_of(text, used);
    throw error(error_code::input,
                "not valid JSON at line " + std::to_string(place.line) + ", column " +
                    std::to_string(place.column) + ": " + failure.message(),
                place);
  }
  return parser.handler().stack.release();
}

}  // namespace kevo
